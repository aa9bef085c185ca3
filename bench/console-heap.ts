import { setTimeout } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { openPage } from './browser.ts';
import { codeBytes } from './heap-snapshot.ts';
import { heapOf } from './main-thread.ts';
import type { Measured } from './row.ts';
import { ADMIN_TOKEN, readFrames, type Server, startTroupe } from './servers.ts';

/**
 * The heap of a page after long use: a walk through all screens while runs execute, once every five seconds of the time
 * of the page, which is moved on so that polls and the expiry of caches happen as often as in that use.
 *
 * The first visit of a screen loads its program, and the lists of a young service grow, which is no leak. So all
 * screens are visited and all lists filled before the first figure. Compiled code is left out: V8 optimizes functions
 * for half an hour.
 */

/** Time between two visits, by the clock of the page. */
const VISIT_MS = 5000;

const VISITS_A_MINUTE = 60_000 / VISIT_MS;

const planOf = ({ short }: Context) =>
  short ? { early: 2, late: 4 } : { early: 3 * VISITS_A_MINUTE, late: 30 * VISITS_A_MINUTE };

const LINKS = 'nav a[href^="/"]';

/** Screens whose first row is opened too. */
const WITH_ROWS = ['/runs', '/threads', '/agents', '/traces', '/statecharts'];

const execute = async (server: Server, count: number): Promise<void> => {
  const messages = [{ role: 'user', content: `Where is the parcel ${count}?` }];
  await readFrames(server, JSON.stringify({ agentId: 'bench-rounds', messages }));
};

/** More than a list loads at once. */
const FULL_LIST = 250;
const AT_ONCE = 10;

const fillLists = async (server: Server): Promise<void> => {
  for (let count = 0; count < FULL_LIST; count += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => execute(server, count + index)));
};

/** Starts a run after the other until it is stopped. */
const startActivity = (server: Server): (() => Promise<void>) => {
  let isOver = false;
  const work = (async () => {
    for (let count = FULL_LIST; !isOver; count += 1) {
      await execute(server, count);
      await setTimeout(200);
    }
  })();
  return () => {
    isOver = true;
    return work;
  };
};

const settle = async (page: Page): Promise<void> => {
  await page.locator('main h1').first().waitFor();
  await setTimeout(100);
  await page.clock.fastForward(VISIT_MS);
  await setTimeout(50);
};

const visit = async (page: Page, path: string): Promise<void> => {
  await page.locator(`nav a[href="${path}"]`).first().click();
  await settle(page);
};

const openRow = async (page: Page): Promise<void> => {
  const row = page.locator('tbody tr[data-row] a, main li a[href^="/statecharts/"]').first();
  if ((await row.count()) === 0) return;
  await row.click({ timeout: 5000 }).catch(() => {});
  await settle(page);
};

/** Visits the screens of the sidebar in turn. */
const walk = async (page: Page, paths: readonly string[], from: number, to: number): Promise<void> => {
  for (let count = from; count < to; count += 1) {
    const path = paths[count % paths.length] ?? '/';
    await visit(page, path);
    if (!WITH_ROWS.includes(path)) continue;
    count += 1;
    await openRow(page);
  }
};

const MIB = 2 ** 20;

const heapRow = async (context: Context): Promise<Measured[]> => {
  const { early, late } = planOf(context);
  const server = await startTroupe(context, { flags: ['--config', agentsModule(context, { rounds: 2 })] });
  const opened = await openPage(server.url, ADMIN_TOKEN);
  if (!opened) return [];
  await fillLists(server);
  const stopActivity = startActivity(server);
  try {
    const page = await opened.go('/');
    await page.clock.install();
    const session: CDPSession = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await page.locator(LINKS).first().waitFor();
    // The links depend on the features of the service, which the page asks for.
    await page.waitForLoadState('networkidle');
    const hrefs: string[] = await page.evaluate(
      `Array.from(document.querySelectorAll('${LINKS}'), (link) => link.getAttribute('href'))`,
    );
    // The manual is a separate page.
    const paths = hrefs.filter((path) => path !== '/docs');
    const measure = async (): Promise<number> => {
      await visit(page, '/');
      const { bytes, nodes, listeners } = await heapOf(session);
      const code = (await codeBytes(session)) / MIB;
      const data = bytes / MIB - code;
      const text = `${data.toFixed(1)} MiB and ${code.toFixed(1)} MiB of code, ${nodes} nodes, ${listeners} listeners`;
      context.note(text);
      context.report(text);
      return data;
    };
    await walk(page, paths, 0, early);
    const baseline = await measure();
    for (let part = 1; part < 3; part += 1) {
      await walk(page, paths, early + ((late - early) * (part - 1)) / 3, early + ((late - early) * part) / 3);
      await measure();
    }
    await walk(page, paths, early + ((late - early) * 2) / 3, late);
    const value = await measure();
    return [
      {
        metric: `heap after ${late / VISITS_A_MINUTE} minutes of use, without compiled code`,
        unit: 'MiB',
        baseline: `after ${early / VISITS_A_MINUTE}`,
        aim: { of: 'ratio', most: 1.1 },
        rounds: [{ value, baseline }],
      },
    ];
  } finally {
    await stopActivity();
    await opened.close();
    await server.process.stop();
  }
};

export const consoleHeap: Benchmark = {
  name: 'console-heap',
  title: 'console-heap: the memory of a page that is used for long',
  rounds: 1,
  run: heapRow,
};
