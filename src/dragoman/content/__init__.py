"""What must survive a translation: numbers, dates, times, money and measures, for any language with a data file."""
