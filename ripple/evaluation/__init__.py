"""Measuring recall: loaders, metrics, runner, generated stories."""
