include Makefile
foretell-built: $(BUILT_SOURCES)
