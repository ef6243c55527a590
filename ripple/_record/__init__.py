"""Parts of the record that ``ripple.store`` is made of; nothing else imports them."""
