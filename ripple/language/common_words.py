"""Words that the rules for names need: those that begin sentences, kinds of places, kin and titles."""

from __future__ import annotations

from ripple.language.word_lists import words

__all__ = [
    "NOT_PLACES",
    "PLACE_NOUNS",
    "QUERY_STOP_WORDS",
    "RELATIONS",
    "SITE_NOUNS",
    "STARTERS",
    "TITLES",
    "words",
]


STARTERS = words(
    """
    a able about above absolutely according actually add after again ago agreed ah aha ain't all allow
    almost alright also although always am amazing an and another any anybody anyone anything anytime
    anyway apart apparently are aren't around as aside ask asking at attended away aw awesome aww back be
    beautiful because become been before being believe best besides better between big both brilliant
    bring bro btw build busy but buy by bye call calm came can can't cannot care carry catch certainly
    check cheers clearly come congrats congratulations consider considering cool could couldn't count
    crazy cute dang dear definitely delicious depends did didn't do does doesn't doing don't done dont
    dream drive dude during each early earlier easy either eat else enjoy enjoyed enough especially even
    ever every everybody everyone everything everywhere exactly excellent except excited exciting excuse
    expect explain explore fair family fantastic feel feels few finally find fine first focus follow for
    forget fortunately found friends from fun funny further gave get gets getting give giving glad go god
    going gonna good goodbye goodness got gosh gotta great guess guys had haha hahaha half hang happened
    happy hard hardly has hasn't have haven't having he he'd he'll he's hear heard hell hello help hence
    her here here's hers herself hey hi him himself his hmm hold honestly hooray hopefully how how's
    however huge hugs i i'd i'll i'm i've if i'd imagine impressive in incredible indeed inspiring instead
    interesting into is isn't it it'd it'll it's its itself just keep keeping kids kind kinda know last
    lastly late lately later lately learn learning least leave less let let's like likewise listen little
    live living lol long look looking looks lot lots love loved lovely luckily made make makes making man
    many maybe me mean meanwhile meet met might mine mom mom's dad dad's moreover more most mostly move
    much mum must my myself nah naturally nearly need neither never nevertheless new next nice nicely no
    nobody none nope nor not nothing now nowhere obviously of off often oh ok okay old omg on once one
    only oops open or other others otherwise ouch our ours ourselves out outside over overall own people
    perfect perhaps phew pick planning play please plus poor practice pretty probably proud put quick
    quite rather reading ready really recently regardless remember remind right run sad safe said same saw
    say see seeing seems seen send set several shall share she she'd she'll she's should shouldn't show
    since sit small so some somebody someday somehow someone something sometimes somewhere soon sorry sort
    sounds speaking start started starting stay still stop stuff such sunday super sure surely sweet take
    taking talk talking team tell thank thankfully thanks that that'd that'll that's that've the their
    theirs them themselves then there there'll there's therefore these they they'd they'll they're they've
    thing things think thinking this those though three through throughout thus time tired to today
    together tomorrow tonight too took totally tough treat true truly try trying turn two ugh uh um
    unbelievable under unfortunately unless unlike until up upon us use used using usually very visit
    visited wait walk wanna want wanted was wasn't watch watching way we we'd we'll we're we've welcome
    well went were weren't what what'd what's whatever when whenever where where's whereas wherever
    whether which whichever while who who's whoever whole whom whose why will wish with within without
    won't wonder wonderful woohoo work working worth would wouldn't wow ya yay yeah year years yep yes
    yesterday yet yikes you you'd you'll you're you've your yours yourself yum yup monday tuesday
    wednesday thursday friday saturday january february march july september october november december
    mondays tuesdays wednesdays thursdays fridays saturdays sundays may june april august list name
    describe summarize summarise mention based given under yours which's when's
    """
)
"""Words that begin sentences without being names; months and weekdays are among them."""

SITE_NOUNS = words(
    """
    airport alley aquarium arena avenue bakery ballroom bar barn basilica bay bazaar beach bistro
    boardwalk boulevard brewery bridge brasserie cabin cabins cafe café cafeteria campground canal cantina
    canyon casino castle cathedral cave caves cemetery chapel chateau cinema cinemas cliffs coast cottage
    cove creek deli desert diner district dunes eatery falls farm farms ferry fjord forest fountain
    gallery garden gardens glacier grill grille gym hall harbor harbour heights hill hills hostel hotel
    hotels inn island islands isles junction lagoon lake lakes lane library lighthouse lodge lounge mall
    manor marina market meadow meadows memorial mill monastery monument mosque motel mountain mountains
    museum oasis observatory opera orchard palace park parks parkway peak peaks peninsula pier pizzeria
    planetarium plaza plains point pond pool pub pyramid quarter quay ranch reef reserve reservoir resort
    restaurant ridge river road rooftop ruins saloon sanctuary sands school shore shores shrine springs
    square stadium station steakhouse street subway summit synagogue tavern temple terrace theater theatre
    tower towers town trail trails trattoria tunnel valley vineyard vineyards village villa volcano
    waterfall wharf winery woods zoo
    """
)
"""Last words of a name that make it a place wherever it stands."""

PLACE_NOUNS = SITE_NOUNS | words(
    """
    academy agency bank boutique building camp campus center centre church city clinic club co coffee
    college company conference convention county court department dojo expo factory fair festival
    foundation group headquarters home hospital house institute kitchen lab labs laboratory office offices
    pharmacy place shelter shop shoppe society spa stand state store studio studios supermarket university
    warehouse works workshop
    """
)
"""Last words of a name that is a place where a preposition puts something there."""

RELATIONS = words(
    """
    friend friends buddy pal roommate flatmate housemate neighbor neighbour colleague coworker co-worker
    boss manager teacher mentor coach partner girlfriend boyfriend fiance fiancé fiancee fiancée husband
    wife ex spouse mom mum mother dad father parents sister sisters brother brothers sibling siblings twin
    cousin cousins aunt uncle niece nephew grandma grandmother grandpa grandfather granddaughter grandson
    son sons daughter daughters kid kids baby child children stepmother stepfather stepson stepdaughter
    sister-in-law brother-in-law mother-in-law father-in-law classmate teammate student client doctor
    therapist dentist nurse lawyer professor dog dogs puppy pup cat cats kitten kitty pet bunny rabbit
    parrot hamster horse turtle guy girl boy man woman lady kiddo bestie crush date met meeting
    """
)
"""Words right before an unlisted name that make it a person (or a pet)."""

TITLES = words(
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor doctor sir madam uncle aunt auntie aunty grandma "
    "grandpa granny nana coach captain capt. father sister brother pastor rev. reverend rabbi imam judge officer "
    "detective sergeant principal"
)
"""Words that make a capitalised word behind them a person's name."""

NOT_PLACES = words(
    """
    english spanish french german italian chinese japanese korean mandarin cantonese portuguese russian
    arabic hindi hebrew latin greek turkish dutch swedish norwegian danish polish thai vietnamese american
    british canadian australian mexican indian african european asian irish scottish welsh python java
    javascript rust excel word powerpoint photoshop zoom slack skype teams facebook instagram twitter
    tiktok youtube netflix spotify whatsapp snapchat linkedin pinterest reddit google apple amazon
    microsoft windows linux android iphone ipad god jesus christ lord buddha allah bible quran torah
    christmas easter thanksgiving halloween hanukkah ramadan diwali xmas new lgbt lgbtq lgbtq+ ai tv pc cd
    dvd vr diy covid covid-19 earth sun moon mars venus jupiter saturn spring summer autumn fall winter pe
    math maths algebra physics chemistry biology psychology photography netball january february march
    april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday football soccer basketball tennis phase chapter part season round level version
    dr mr mrs ms congress parliament hr it
    """
)
"""Capitalised words behind a preposition that are no places: languages, products, feasts, subjects."""

QUERY_STOP_WORDS = words(
    """
    a about after again all also am an and any anything are aren't as ask at be because been before being
    both but by can can't could couldn't did didn't do does doesn't doing don't done down during each else
    ever every for from further get gets getting given go goes going got had hadn't has hasn't have
    haven't having he her here hers herself him himself his how i i'm if in into is isn't it it's its
    itself just know last let's like list many may me might more most much must my myself name next no not
    now of off on once one only or other our ours out over own please say said says she should so some
    something tell than that that's the their theirs them themselves then there these they thing things
    think this those through to too type types kind kinds under until up upon us use used very was wasn't
    we were weren't what what's when when's where where's which while who who's whom whose why will with
    within without would wouldn't yet you you're your yours mention mentioned according describe happened
    happen long ago time
    """
)
"""Words of a question that say nothing of what is looked for."""
