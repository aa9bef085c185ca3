import axe from 'axe-core';
import type { Page } from 'playwright-core';
import t from 'tap';
import { readPages } from '../../.build/manual.ts';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { startHouse } from '../console/visit.ts';
import { LONG } from '../long.ts';

/** The manual as its readers see it. The test fails on each error and each warning of the browser console. */

const SMALL = { width: 390, height: 844 };

/** All pages are made from the same parts: the short form checks every fifth one with axe. */
const ONE_OF = LONG ? 1 : 5;

const addressOf = (path: string): string => (path === 'index' ? '/docs' : `/docs/${path}`);

/** `part`: selects the part of the page that is checked. */
const violationsOf = (page: Page, options: object = {}, part = 'html'): Promise<unknown> =>
  page.evaluate(`axe.run('${part}', ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const house = await startHouse(t);

  t.test('shows every page within a small window', async (t) => {
    const { page, load } = await house.visit(t, { token: null, viewport: SMALL });
    for (const { path, title } of readPages()) {
      await load(addressOf(path));
      t.match(await page.locator('h1').textContent(), title);
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), SMALL.width, path);
    }
  });

  t.test('shows pages accessibly in both themes', async (t) => {
    const { page, load } = await house.visit(t, { token: null, colorScheme: 'light' });
    const pages = readPages().filter((_, index) => index % ONE_OF === 0);
    for (const [index, { path }] of pages.entries()) {
      // The frame of all pages is the same.
      const part = index === 0 ? 'html' : 'main';
      await page.emulateMedia({ colorScheme: 'light' });
      await load(addressOf(path));
      await page.evaluate(axe.source);
      t.strictSame(await violationsOf(page, {}, part), [], `light ${path}`);
      const light = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
      await page.emulateMedia({ colorScheme: 'dark' });
      // The themes differ only in colors.
      t.strictSame(await violationsOf(page, { runOnly: ['color-contrast'] }, part), [], `dark ${path}`);
      t.not(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'), light);
    }
  });

  t.test('leads from the console to the manual, and through its pages', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents');
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.waitForURL(`${house.troupe.url}/docs`);
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
    t.equal(await pages.getByRole('link').count(), readPages().length);
    for (const path of ['tutorial', 'guides/first-run', 'concepts']) {
      await page.locator('a[rel="next"]').click();
      await page.waitForURL(`**/docs/${path}`);
    }
    await page.locator('.contents a', { hasText: 'Mailbox' }).click();
    await page.waitForURL('**/docs/concepts#mailbox');
    t.ok(await page.locator('#mailbox').isVisible());
    await page.locator('a[rel="prev"]').click();
    await page.waitForURL('**/docs/guides/first-run');
  });

  t.test('finds headings and text with the keyboard', async (t) => {
    const { page, load } = await house.visit(t, { token: null });
    await load('/docs/contributing/style');
    await page.keyboard.press('/');
    t.equal(await page.evaluate('document.activeElement.type'), 'search');
    await page.keyboard.type('mailb');
    const results = page.locator('.results a');
    await results.first().waitFor();
    t.match(await page.getByRole('status').textContent(), /result/);
    await page.evaluate(axe.source);
    t.strictSame(await violationsOf(page), []);
    await page.keyboard.press('ArrowDown');
    t.ok(await page.evaluate('document.activeElement === document.querySelector(".results a")'));
    await page.keyboard.press('ArrowUp');
    t.equal(await page.evaluate('document.activeElement.type'), 'search');
    await page.keyboard.press('Escape');
    await results.first().waitFor({ state: 'detached' });

    await page.keyboard.type('no such words qqq');
    await page.getByRole('status').getByText('No results').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('dispatch unit of queued work');
    await results.getByText('Dispatch', { exact: true }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/concepts#dispatch');
  });

  t.test('reports that the index of the search cannot be loaded', async (t) => {
    const { page, load } = await house.visit(t, { token: null, noisy: true });
    await load('/docs');
    await page.route('**/assets/index-*.json', (route) => route.abort());
    await page.getByRole('searchbox').fill('mailbox');
    await page.getByRole('status').getByText('The search index could not be loaded.').waitFor();
  });

  t.test('is readable without scripts', async (t) => {
    const visit = await house.visit(t, { token: null });
    const context = await visit.context.browser()?.newContext({ javaScriptEnabled: false, viewport: SMALL });
    const page = await context?.newPage();
    if (!page) throw new Error('the browser has no page');
    await page.goto(`${house.troupe.url}/docs`);
    t.equal(await page.getByRole('searchbox').count(), 0);
    await page.getByRole('link', { name: 'Concepts' }).first().click();
    await page.getByText('On this page').click();
    t.ok(await page.locator('.contents a', { hasText: 'Mailbox' }).isVisible());
    await page.getByRole('link', { name: 'All pages' }).click();
    await page.waitForURL('**/docs/concepts#pages');
    await context?.close();
  });
}
