import axe from 'axe-core';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { dictionaryIn } from '../../src/console/dictionaries/all.ts';
import { LONG } from '../long.ts';
import { asks } from '../service/models.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { ASKS_FIRST, ask, askWith, headers } from './ask.ts';
import type { House, Visit } from './visit.ts';

/** Checks of every screen. They run last, so that the screens have content. */

const SCREENS = [
  '/',
  '/agents',
  '/agents?view=map',
  '/agents/new',
  '/agents/permission?tab=tools',
  '/agents/default?tab=connect',
  '/agents/creative?tab=advanced',
  '/agents/permission?tab=plugins',
  '/agents/permission?tab=history',
  '/agents/default/dashboard',
  '/skills',
  '/skills/greeting',
  '/tools',
  '/tools/get_weather',
  '/providers',
  '/providers?new=1',
  '/models',
  '/models?edit=default',
  '/model-pools?new=1',
  '/mcp-servers',
  '/mcp-servers?new=1',
  '/a2a-servers',
  '/datasets',
  '/eval-runs',
  '/eval-reports',
  '/statecharts',
  '/statecharts/run',
  '/users',
  '/keys',
  '/budgets',
  '/users?new=1',
  '/keys?new=1',
  '/users/key-owner',
  '/usage?by=user,agent',
  '/access-log',
  '/diagnostics',
  '/audit-log',
  '/members',
  '/system',
  '/runs',
  '/inbox',
  '/threads',
  '/files',
  '/traces',
];

/** Elements that show that these screens have loaded; their content arrives as a stream. */
const SIGNS: readonly (readonly [string, string])[] = [
  ['/statecharts', 'svg [data-state]'],
  ['/runs/', '[data-testid="run-statechart"][data-state="waiting"]'],
  ['/runs', 'tbody tr[data-row]'],
  ['/inbox', '[data-testid^="inbox-card-"]'],
  ['/threads/', '[data-testid="thread-conversation"] li'],
  ['/threads', 'tbody tr[data-row]'],
  ['/playground', '[data-state="waiting"][data-lit]'],
];

const settled = async ({ page, rest }: Visit, path: string): Promise<void> => {
  const [, sign] = SIGNS.find(([begin]) => path.startsWith(begin)) ?? [];
  if (sign !== undefined) await page.locator(sign).first().waitFor();
  await rest();
  await page.getByTestId('skeleton').first().waitFor({ state: 'detached' });
  await rest();
};

/** Screens that show conversations, previews, Markdown or charts also load the programs that render these. */
const SHOWS_TALK =
  /^\/(playground|assistant|inbox|statecharts|eval-reports|skills|(agents|runs|threads|traces)\/)/;

/** Maximum of the programs that an address loads in a browser without a cache, compressed, in KiB. */
const mostPrograms = (path: string): number => {
  if (path === '/') return 250;
  return SHOWS_TALK.test(path) ? 376 : 265;
};

const SMALL = { width: 375, height: 812 };

/** Programs and texts are also checked in the sources, so the short form visits every fourth screen. */
const ONE_OF = LONG ? 1 : 4;

const someOf = (paths: readonly string[], from: number): string[] =>
  paths.filter((_, index) => index % ONE_OF === from % ONE_OF);

const row = (page: Page, id: string) => page.getByRole('row', { name: id }).first();

export const onEveryScreen = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const agent = { ...ASKS_FIRST, id: 'asks-at-last' };
  await troupe.call('POST', '/v1/config/agents', agent, headers);
  const key = {
    name: 'of every screen',
    user: 'key-owner',
    new_user: { kind: 'service', grants: ['member', 'configure:mcp-servers'] },
    grants: ['invoke:support-*'],
    expires_in_secs: 864_000,
  };
  await troupe.call('POST', '/v1/keys', key, headers);
  const traced = await ask(troupe, agent.id, 'What is new?');
  const waiting = await askWith(troupe, agent.id, asks(['at-last', 'get_weather', { location: 'Oslo' }]));
  const screens = [
    ...SCREENS,
    `/runs/${waiting.run_id}`,
    `/threads/${waiting.thread_id}`,
    `/playground?agent=${agent.id}&thread=${waiting.thread_id}`,
    `/traces/${traced.run_id}`,
  ];

  const chinese = dictionaryIn('zhCN');
  const english = new Set(
    Object.entries(dictionaryIn('en')).flatMap(([key, text]) =>
      typeof text === 'string' && text !== chinese[key] && /[a-z]{3}/.test(text) ? [text] : [],
    ),
  );
  /** All violations that axe reports. */
  const barriers = async (page: Page, path: string, rules: object): Promise<unknown> => {
    // The shell is the same on all screens, so it is checked only once.
    const known = path === '/' ? [] : [['aside'], ['header:has(+ main)']];
    const options = { resultTypes: ['violations'], preload: false, ...rules };
    return page.evaluate(`axe.run({ exclude: ${JSON.stringify(known)} }, ${JSON.stringify(options)}).then(({ violations }) =>
      violations
        .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ': ' + html.slice(0, 200) + ' ' + (any[0]?.message ?? ''))))`);
  };

  /** Changes the theme and finishes all transitions. */
  const setTheme = (page: Page, theme: 'light' | 'dark'): Promise<unknown> =>
    page.evaluate(`document.documentElement.dataset.theme = '${theme}';
      for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();`);

  /** Opens a screen by its sidebar link, if there is one that no dialog covers. */
  const follow = async ({ page, go }: Visit, path: string): Promise<void> => {
    const link = page.locator(`nav a[href="${path}"]`).first();
    if ((await link.count()) === 0 || (await page.getByRole('dialog').count()) > 0) return go(path);
    await link.click();
    await page.waitForURL(`${troupe.url}${path}`);
  };

  t.test('loads every screen accessibly, without secrets, and within a small window', async (t) => {
    const visit = await house.visit(t, { moves: true, stored: { 'troupe.admin.theme': 'light' } });
    const { page, said, go } = visit;
    let programs = 0;
    page.on('response', (answer) => {
      if (answer.url().endsWith('.js')) programs += Number(answer.headers()['content-length']);
      if (answer.status() >= 400) t.fail(`${answer.status()} of ${answer.url()}`);
    });
    for (const path of screens) {
      await go(path);
      await settled(visit, path);
      t.equal(await page.getByTestId('skeleton').count(), 0, `${path} is loaded`);
      if (path === '/') {
        t.ok(
          programs > 0 && programs <= mostPrograms(path) * 1024,
          `${programs} bytes of programs, compressed`,
        );
        await page.evaluate(axe.source);
      }
      t.strictSame(await barriers(page, path, {}), [], `light ${path}`);
      t.equal(
        await page.locator('main [data-new]:not(:has(svg))').count(),
        0,
        `${path}: all actions that create an entry look alike`,
      );
      await setTheme(page, 'dark');
      // The themes differ only in colors.
      t.strictSame(await barriers(page, path, { runOnly: ['color-contrast'] }), [], `dark ${path}`);
      t.notOk(
        await page.evaluate(`document.documentElement.outerHTML.includes('${ADMIN_TOKEN}')`),
        `${path} shows no token`,
      );
      await page.setViewportSize(SMALL);
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), SMALL.width, `small ${path}`);
      await page.setViewportSize({ width: 1280, height: 720 });
      await setTheme(page, 'light');
    }
    t.notOk(
      said.some((text) => text.includes(ADMIN_TOKEN)),
      'no text or request contains the token',
    );
  });

  t.test('loads few programs at the address of a screen', async (t) => {
    // Narrow enough that the agent editor loads its preview only on request.
    const visit = await house.visit(t, { moves: true, viewport: { width: 1024, height: 720 } });
    for (const path of someOf([...screens, '/assistant'], 0)) {
      const answer = await visit.page.goto(`${troupe.url}${path}`);
      t.equal(answer?.status(), 200, path);
      await visit.page.locator('h1, h2').first().waitFor();
      await settled(visit, path);
      const programs = Number(
        await visit.page.evaluate(`performance.getEntriesByType('resource')
          .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`),
      );
      t.ok(
        programs > 0 && programs <= mostPrograms(path) * 1024,
        `${path}: ${programs} bytes of programs, compressed`,
      );
    }
  });

  t.test('shows screens in the selected language', async (t) => {
    const visit = await house.visit(t, { moves: true, stored: { 'troupe.admin.locale': 'zh-CN' } });
    const { page, go } = visit;
    await go('/');
    t.equal(await page.locator('html').getAttribute('lang'), 'zh-CN');
    for (const path of someOf(screens, 2)) {
      await follow(visit, path);
      await settled(visit, path);
      const texts: unknown = await page.evaluate(
        `Array.from(document.querySelectorAll('body *:not(tbody *, option, code, svg, svg *)'), (one) => [...one.childNodes]
          .filter((node) => node.nodeType === 3).map((node) => node.data.trim()).concat(one.ariaLabel ?? [])).flat()`,
      );
      t.ok(Array.isArray(texts) && texts.length > 20);
      t.strictSame(
        [texts].flat(2).filter((text) => english.has(String(text))),
        [],
        path,
      );
    }
  });

  t.test('reaches all controls on a small screen', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, viewport: SMALL });
    await go('/');
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), SMALL.width);
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('button', { name: /^Theme:/ }).click();
    await page.getByRole('button', { name: 'Switch language to zh-CN' }).waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await row(page, 'default').waitFor();
    await page.getByRole('button', { name: 'Close menu' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Open command palette' }).click();
    await page.getByRole('listbox').waitFor();
  });
};
