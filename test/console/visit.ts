import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import type { Test } from 'tap';
import { buildConsole } from '../../.build/console.ts';
import { launchChromium, SHORT_LIVED_PAGES } from '../../bench/chromium.ts';
import { definePlugin } from '../../src/plugins/define.ts';
import { ROOT } from '../run/places.ts';
import { ADMIN_TOKEN, startDemo, type Troupe } from '../service/troupe.ts';

/** Whoever is asked gives the arguments that the tool goes on with. */
const handsOver = definePlugin({
  id: 'hands-over',
  create: () => ({
    gate: (call) =>
      call.decision
        ? { kind: 'proceed' }
        : {
            kind: 'suspend',
            ticket: {
              suspension: { id: `edit_${call.id}`, action: `tool:${call.name}` },
              pending: { id: call.id, name: call.name, arguments: call.arguments },
              resume_mode: 'pass_decision_to_tool',
            },
          },
  }),
});

/**
 * The console as its users have it: built, served by a service, in a real browser.
 *
 * A tab with a profile of its own costs as much processor time as a page of the console. So all stories share one tab,
 * which each finds as a new one would be: nothing is stored, listened to, intercepted, emulated or opened. Nor is
 * anything of a page kept by the browser while requests are intercepted: a story does that once the page is there.
 */

export type House = {
  troupe: Troupe;
  /** A tab of somebody who has not been here before. */
  visit(t: Test, options?: VisitOptions): Promise<Visit>;
};

export type VisitOptions = Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> & {
  /** Null: there is none. */
  token?: string | null;
  /** What the browser has stored besides. */
  stored?: Record<string, string>;
  /** Errors of the console are expected. */
  noisy?: boolean;
};

export type Visit = {
  page: Page;
  context: BrowserContext;
  /** Everything that the page has said and where it has gone, for secrets to be looked for. */
  said: string[];
  /** Of requests to the service. */
  asked: string[];
  /** To another screen: by an address the first time, later inside the console, which keeps what it has read. */
  go(path: string): Promise<void>;
  /** By an address: the console starts anew. */
  load(path: string): Promise<void>;
  /** The page asks for nothing any more, but for streams, and has shown what it was told. */
  rest(): Promise<void>;
};

const LARGE = { width: 1280, height: 720 };

/** What a story may listen to. */
const HEARD = ['console', 'dialog', 'pageerror', 'request', 'requestfailed', 'requestfinished', 'response'];

/** Of the story that is over, nothing goes on. */
const leave = async (page: Page): Promise<void> => {
  const context = page.context();
  for (const event of HEARD) page.removeAllListeners(event);
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const one of [page, context]) await one.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto('about:blank');
  // Nothing of the next page is under it.
  await page.mouse.move(-1, -1);
};

/** As a link of the console leads there, whatever is not stored yet; once the router has rendered where it leads. */
const goInside = (path: string): string => `new Promise((resolve) => {
  const router = globalThis.__TSR_ROUTER__;
  const stop = router.subscribe('onRendered', () => resolve(stop()));
  router.history.push(${JSON.stringify(path)}, {}, { ignoreBlocker: true });
})`;

/** What an answer changes is on the screen by then, and what that asks for is under way. */
const twoFrames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

export const NOTICES = 'react 1.0.0 (MIT)\n';

export const startHouse = async (t: Test): Promise<House> => {
  await buildConsole();
  // As in a package, whose build puts the notices alongside the console.
  const dist = mkdtempSync(join(tmpdir(), 'console-'));
  t.teardown(() => rmSync(dist, { recursive: true }));
  cpSync(join(ROOT, 'dist/console'), join(dist, 'console'), { recursive: true });
  writeFileSync(join(dist, 'LICENSES.txt'), NOTICES);
  const troupe = await startDemo(t, {
    app: { consoleFolder: join(dist, 'console'), plugins: [handsOver] },
    settings: {
      inspection_addr: '127.0.0.1:0',
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
      trace: { sampling_disable: true },
    },
  });
  const browser = await launchChromium(SHORT_LIVED_PAGES);
  t.teardown(() => browser.close());
  const context = await browser.newContext();
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  let visits = 0;
  let end = async (): Promise<void> => {};
  return {
    troupe,
    async visit(t, options = {}) {
      await end();
      const {
        token = ADMIN_TOKEN,
        stored = {},
        noisy = false,
        viewport = LARGE,
        colorScheme = null,
      } = options;
      await page.setViewportSize(viewport ?? LARGE);
      await page.emulateMedia({ colorScheme });
      visits += 1;
      const kept = {
        visited: String(visits),
        ...stored,
        ...(token !== null && { 'troupe.adminToken': token }),
      };
      // Only once: what the page stores itself stays when it is loaded again.
      const profile = await page.addInitScript(`if (localStorage.visited !== '${visits}') {
        sessionStorage.clear();
        localStorage.clear();
        for (const [key, value] of Object.entries(${JSON.stringify(kept)})) localStorage.setItem(key, value);
      }`);
      const said: string[] = [];
      const asked: string[] = [];
      page.on('console', (message) => {
        said.push(message.text());
        if (!noisy && ['error', 'warning'].includes(message.type()))
          t.fail(`the page said: ${message.text()} ${message.location().url}`);
      });
      page.on('pageerror', (error) => t.fail(`the page threw: ${error.stack}`));
      page.on('request', (request) => {
        said.push(request.url());
        asked.push(`${request.method()} ${request.url().replace(troupe.url, '')}`);
        if (!request.url().startsWith(troupe.url) && !/^(data|blob):/.test(request.url()))
          t.fail(`the page asked somebody else: ${request.url()}`);
      });
      const underWay = new Set<Request>();
      page.on('request', (request) => underWay.add(request));
      page.on('requestfinished', (request) => underWay.delete(request));
      page.on('requestfailed', (request) => underWay.delete(request));
      page.on('response', (answer) => {
        if (answer.headers()['content-type']?.startsWith('text/event-stream'))
          underWay.delete(answer.request());
      });
      const rest = async (): Promise<void> => {
        do await page.evaluate(twoFrames);
        while (underWay.size > 0);
      };
      end = async () => {
        end = async () => {};
        await profile.dispose();
        await leave(page);
      };
      t.teardown(() => end());
      const load = async (path: string): Promise<void> => {
        await page.goto(`${troupe.url}${path}`);
        await page.locator('h1, h2').first().waitFor();
      };
      const go = async (path: string): Promise<void> => {
        if (page.url() === 'about:blank') return load(path);
        await page.evaluate(goInside(path));
        await page.locator('h1, h2').first().waitFor();
      };
      return { page, context, said, asked, load, go, rest };
    },
  };
};
