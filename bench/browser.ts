import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';

/** The console in a real browser, without a window and without a graphics card. */

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export type Opened = { go(path: string): Promise<Page>; close(): Promise<void> };

/** Undefined: this machine has no browser. It is where this process is, beside the servers. */
export const openPage = async (url: string, token: string): Promise<Opened | undefined> => {
  if (!existsSync(CHROMIUM)) return undefined;
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-extensions'],
  });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`localStorage.setItem('troupe.adminToken', ${JSON.stringify(token)})`);
  return {
    async go(path) {
      const page = await context.newPage();
      await page.goto(url + path);
      return page;
    },
    close: () => browser.close(),
  };
};
