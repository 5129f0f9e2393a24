"""flatlas: an atlas of flat minima, from data set to figure.

Data flows one way through the packages, and so do the imports::

    plan, store  ->  data, nets  ->  training  ->  measures
    store  ->  evidence  ->  plotting, claims  ->  studies, report

``jobs`` is separate: what every script does around its library call.
"""
