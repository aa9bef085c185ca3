import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** A real browser, without a window and without a graphics card. */

/** Where Debian's packages put it. The shell is the same engine without what surrounds it, at two thirds of the cost. */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export const CHROMIUM =
  process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place)) ?? '/usr/bin/chromium';

export const hasChromium = (): boolean => existsSync(CHROMIUM);

/**
 * For pages that are there for seconds: code that is compiled well takes longer to compile than it saves. Compositing
 * without a thread of its own would save as much again, but then frames stop coming now and then.
 */
export const SHORT_LIVED_PAGES = ['--js-flags=--no-opt --no-maglev --single-threaded-gc'];

/**
 * It asks nobody for anything, and none of its processes is more than a page needs.
 * @param flags of Chromium, besides
 */
export const launchChromium = async (flags: readonly string[] = []): Promise<Browser> => {
  // It takes longer to load than all else that a command loads which may never need a browser.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-extensions',
      ...flags,
    ],
  });
};
