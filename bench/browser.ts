import type { Browser, Page } from 'playwright-core';
import { hasChromium, launchChromium } from './chromium.ts';

/** The console in a real browser. */

export type Opened = { browser: Browser; go(path: string): Promise<Page>; close(): Promise<void> };

/** Returns undefined if this host has no browser. The browser runs on the core of this process, not of the servers. */
export const openPage = async (url: string, token: string): Promise<Opened | undefined> => {
  if (!hasChromium()) return undefined;
  const browser = await launchChromium();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`localStorage.setItem('troupe.adminToken', ${JSON.stringify(token)})`);
  return {
    browser,
    async go(path) {
      const page = await context.newPage();
      await page.goto(url + path);
      return page;
    },
    close: () => browser.close(),
  };
};
