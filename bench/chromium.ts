import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** A real browser, without a window and without a graphics card. */

/**
 * Paths of Debian's packages. The shell has the same engine without the browser around it, at two thirds of the cost.
 */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export const CHROMIUM =
  process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place)) ?? '/usr/bin/chromium';

export const hasChromium = (): boolean => existsSync(CHROMIUM);

/**
 * For pages that exist for seconds: optimized code takes longer to compile than it saves. Compositing on the main
 * thread would save as much again, but frames then occasionally stop.
 */
export const SHORT_LIVED_PAGES = ['--js-flags=--no-opt --no-maglev --single-threaded-gc'];

/**
 * The browser makes no background requests, and its processes are limited to those that a page needs.
 * @param flags additional flags of Chromium
 */
export const launchChromium = async (flags: readonly string[] = []): Promise<Browser> => {
  // Imported lazily: it takes longer to load than all other modules of a command that may need no browser.
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
