# SPDX-License-Identifier: MIT
#
# dist.mk - what a release consists of
#
# make dist             build/libfiber-VERSION.tar.gz: the files of the commit HEAD; the same commit gives the same bytes
# make html             build/html: the guides and the manual as one site
# make test-packages [PARTS="build lint again root rpm"]    build the packages and use them in a new root; needs root, takes many minutes

.PHONY: dist
dist:
	$(call say,DIST,$(BUILD)/libfiber-$(VERSION).tar.gz)
	@mkdir -p $(BUILD)
	@git rev-parse --verify -q HEAD >/dev/null || { echo "make dist: this tree is no git checkout" >&2; exit 1; }
	$(Q)new=$(BUILD)/dist.$$$$ && git archive --format=tar --prefix=libfiber-$(VERSION)/ HEAD >$$new.tar && gzip -9nf $$new.tar && \
		mv $$new.tar.gz $(BUILD)/libfiber-$(VERSION).tar.gz

.PHONY: html
html:
	$(call say,HTML,$(BUILD)/html)
	@mkdir -p $(BUILD)
	$(Q)python3 -B scripts/make-html.py $(BUILD)/html $(VERSION)

.PHONY: test-packages
test-packages:
	@scripts/test-packages.sh $(PARTS)
