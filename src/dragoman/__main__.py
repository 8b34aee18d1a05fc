"""`python -m dragoman` is the command line."""

from dragoman.cli import main

if __name__ == "__main__":
    main()
