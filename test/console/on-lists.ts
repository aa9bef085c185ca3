import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { LONG } from '../long.ts';
import { ROOT } from '../run/places.ts';
import { asks } from '../service/models.ts';
import { ASKS_FIRST, ask, askWith, headers } from './ask.ts';
import type { House } from './visit.ts';

/** Checks of every list screen with rows that have long texts. */

const LONG_TEXT = 'Answers questions about invoices, refunds and deliveries of customers of all regions';

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

const LISTS = [
  '/agents',
  '/skills',
  '/tools',
  '/providers',
  '/models',
  '/model-pools',
  '/budgets',
  '/users',
  '/keys',
  '/mcp-servers',
  '/a2a-servers',
  '/datasets',
  '/datasets/long-texts',
  '/eval-runs',
  '/audit-log',
  '/runs',
  '/threads',
  '/traces',
];

/** Columns have the least space in the first one. */
const WIDTHS = LONG ? [1280, 1440] : [1280];

/** Lists that may have no rows here. */
const UNFILLED = new Set(['/a2a-servers', '/eval-runs', '/model-pools']);

/**
 * Reports the texts of rows that are covered by other elements, outside the frame of the list, or cut without an
 * ellipsis and a tooltip.
 */
const HIDDEN = `(() => {
  const found = [];
  for (const frame of document.querySelectorAll('section:has(> table)')) {
    if (frame.scrollWidth > frame.clientWidth)
      found.push('the table is ' + (frame.scrollWidth - frame.clientWidth) + ' px wider than its frame');
    for (const cell of frame.querySelectorAll('thead th, tbody tr[data-row]:nth-child(-n + 25) > td')) {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const text = texts.currentNode;
        const range = document.createRange();
        range.selectNodeContents(text);
        const place = range.getBoundingClientRect();
        if (place.width < 2 || !text.parentElement.checkVisibility({ opacityProperty: true })) continue;
        let right = place.right;
        let box = Infinity;
        for (let one = text.parentElement; one !== frame; one = one.parentElement) {
          const style = getComputedStyle(one);
          const edge = one.getBoundingClientRect().right - parseFloat(style.paddingRight);
          if (style.overflowX === 'visible' || right <= edge + 1) {
            if (style.display !== 'inline') box = one.getBoundingClientRect().left;
            continue;
          }
          right = edge;
          // The browser clips the first box of a line without an ellipsis.
          const isFirstBox = box < one.getBoundingClientRect().left + 2;
          box = Infinity;
          const isExplained =
            style.textOverflow === 'ellipsis' && !isFirstBox && (one.closest('[title]') ?? one.querySelector('[title]'));
          if (!isExplained) found.push('cut: ' + text.data);
        }
        const y = (place.top + place.bottom) / 2;
        if (y < 0 || y > innerHeight || place.left + 2 > right) continue;
        for (const x of [place.left + 1, right - 1]) {
          const top = document.elementFromPoint(x, y);
          if (frame.contains(top) && !cell.contains(top)) found.push('covered: ' + text.data);
        }
      }
    }
  }
  return found;
})()`;

const hiddenTexts = (page: Page): Promise<unknown> => page.evaluate(HIDDEN);

export const onLists = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const create = async (namespace: string, body: object): Promise<void> => {
    const { status, body: said } = await troupe.call('POST', `/v1/config/${namespace}`, body, headers);
    t.equal(status, 201, `${namespace} ${JSON.stringify(said)}`);
  };
  const plugin_ids = ['permission', 'observability', 'reminder', 'generative-ui'];
  const agent = { ...ASKS_FIRST, id: 'customer-support-of-all-regions', description: LONG_TEXT, plugin_ids };
  await create('agents', agent);
  await create('mcp-servers', {
    id: 'server-of-invoices-and-refunds',
    transport: 'stdio',
    command: process.execPath,
    args: [MEMORY],
  });
  await create('budgets', {
    id: 'monthly-budget-of-customer-support',
    window: { every: 'month' },
    limits: { usd: 1000, tokens: 1_000_000_000 },
    per: ['scope', 'user', 'key', 'agent'],
    on_exceeded: 'observe',
    unpriced: 'ignore',
  });
  const key = {
    name: LONG_TEXT,
    user: 'service-that-answers-questions-about-invoices',
    new_user: {
      kind: 'service',
      name: LONG_TEXT,
      grants: ['operator', 'configure:mcp-servers', 'decide:support-*/*'],
    },
    expires_in_secs: 864_000,
  };
  const made = await troupe.call('POST', '/v1/keys', key, headers);
  t.equal(made.status, 201, JSON.stringify(made.body));
  await ask(troupe, agent.id, LONG_TEXT);
  await askWith(troupe, agent.id, asks(['long-wait', 'get_weather', { location: 'Oslo' }]));
  await askWith(troupe, agent.id, () => Promise.reject(new Error(LONG_TEXT)));
  const fixtures = [1, 2].map((each) => ({
    id: `1f6a4c1e-7b55-4f0b-9a3e-96fdc0dd00${each}0`,
    user_input: LONG_TEXT,
    expect: { final_text_contains: [LONG_TEXT] },
  }));
  const dataset = { id: 'long-texts', spec: { description: LONG_TEXT, fixtures } };
  const stored = await troupe.call('POST', '/v1/eval/datasets', dataset, headers);
  t.equal(stored.status, 201, JSON.stringify(stored.body));

  for (const width of WIDTHS) {
    t.test(`shows all columns of every list within ${width} pixels`, async (t) => {
      const { page, go, rest } = await house.visit(t, { moves: true, viewport: { width, height: 900 } });
      for (const path of LISTS) {
        await go(path);
        await rest();
        await page.getByTestId('skeleton').first().waitFor({ state: 'detached' });
        await rest();
        if (!UNFILLED.has(path)) await page.locator('tbody tr[data-row]').first().waitFor();
        await rest();
        t.strictSame(await hiddenTexts(page), [], path);
      }
    });
  }
};
