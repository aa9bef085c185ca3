import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import type { Test } from 'tap';
import { buildConsole } from '../../.build/console.ts';
import { buildManual } from '../../.build/manual.ts';
import { launchChromium, SHORT_LIVED_PAGES } from '../../bench/chromium.ts';
import { LIFETIME } from '../../src/console/feedback/toasts.ts';
import { definePlugin } from '../../src/plugins/define.ts';
import type { SettingsInput } from '../../src/settings/index.ts';
import { ROOT } from '../run/places.ts';
import { ADMIN_TOKEN, eventually, startDemo, type Troupe } from '../service/troupe.ts';

/** Suspends each call; the arguments of the decision replace those of the call. */
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
 * The console as its users see it: built, served by a service, in a real browser.
 *
 * A tab with a separate profile costs as much CPU time as a page of the console, so all tests share one tab. Each test
 * finds it in the state of a new one, without stored values, listeners, routes, emulation or open dialogs. The browser
 * caches nothing while requests are intercepted, so tests intercept them only after the page has loaded.
 */

export type House = {
  troupe: Troupe;
  /** Resets the tab to that of a first-time visitor. */
  visit(t: Test, options?: VisitOptions): Promise<Visit>;
};

export type VisitOptions = Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> & {
  /** Null for no token. */
  token?: string | null;
  /** Further stored values of the browser. */
  stored?: Record<string, string>;
  /** Errors in the browser console are expected. */
  noisy?: boolean;
  /** The origin of an identity provider, to which the browser is sent. */
  provider?: string;
  /** Shows animations, whose frames take CPU time for as long as a test waits. */
  moves?: boolean;
  /** The console loads all screens while the browser is idle, which most tests do not need. */
  preloads?: boolean;
};

export type Visit = {
  page: Page;
  context: BrowserContext;
  /** Console messages and requested addresses of the page, to be searched for secrets. */
  said: string[];
  /** Method and address of each request to the service. */
  asked: string[];
  /** Opens a screen: by its address the first time, later by navigation within the console, which keeps its cache. */
  go(path: string): Promise<void>;
  /** Loads an address, which restarts the console. */
  load(path: string): Promise<void>;
  /** Waits until all requests except streams have ended and their results are rendered. */
  rest(): Promise<void>;
};

const LARGE = { width: 1280, height: 720 };

/** Page events that tests may listen to. */
const HEARD = ['console', 'dialog', 'pageerror', 'request', 'requestfailed', 'requestfinished', 'response'];

/** Releases everything that the previous test set up. */
const leave = async (page: Page): Promise<void> => {
  const context = page.context();
  for (const event of HEARD) page.removeAllListeners(event);
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const one of [page, context]) await one.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto('about:blank');
  // Moves the pointer away, so that it is over no element of the next page.
  await page.mouse.move(-1, -1);
};

/**
 * Navigates like a link of the console, ignoring unsaved changes, and waits until the router has rendered the screen.
 */
const goInside = (path: string): string => `new Promise((resolve) => {
  const router = globalThis.__TSR_ROUTER__;
  const stop = router.subscribe('onRendered', () => resolve(stop()));
  router.history.push(${JSON.stringify(path)}, {}, { ignoreBlocker: true });
})`;

/** After two frames, the results of a response are rendered and the requests that follow from it have started. */
const twoFrames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/** A toast is shown for less time than a busy machine takes from a click to its expectation. */
const LASTING_TOASTS = `{
  const { setTimeout } = window;
  const lifetimes = ${JSON.stringify(Object.values(LIFETIME))};
  window.setTimeout = (act, ms, ...more) => setTimeout(act, lifetimes.includes(ms) ? 15_000 : ms, ...more);
}`;

/**
 * Waits until an expression is true in the page. `waitForFunction` may evaluate a text within the page, whose policy
 * rejects that.
 */
export const becomesTrue = (page: Page, expression: string): Promise<unknown> =>
  eventually(() => page.evaluate(expression), Boolean);

export const NOTICES = 'react 1.0.0 (MIT)\n';

/** @param front puts a proxy in front of the service, and returns the address of the proxy */
export const startHouse = async (
  t: Test,
  front?: (service: () => string) => Promise<string>,
  settings: SettingsInput = {},
): Promise<House> => {
  await buildManual();
  await buildConsole();
  // As in the package, whose build writes the notices next to the console.
  const dist = mkdtempSync(join(tmpdir(), 'console-'));
  t.teardown(() => rmSync(dist, { recursive: true }));
  cpSync(join(ROOT, 'dist/console'), join(dist, 'console'), { recursive: true });
  writeFileSync(join(dist, 'LICENSES.txt'), NOTICES);
  const troupe = await startDemo(t, {
    app: {
      consoleFolder: join(dist, 'console'),
      manualFolder: join(ROOT, 'dist/docs'),
      plugins: [handsOver],
    },
    settings: {
      inspection_addr: '127.0.0.1:0',
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
      trace: { sampling_disable: true },
      ...settings,
    },
  });
  const proxy = await front?.(() => troupe.url);
  const home = (): string => proxy ?? troupe.url;
  const browser = await launchChromium(SHORT_LIVED_PAGES);
  t.teardown(() => browser.close());
  const context = await browser.newContext();
  // Less than the time after which the test would count as stalled, so that the failure names the wait.
  context.setDefaultTimeout(45_000);
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
        moves = false,
        preloads = false,
        provider,
        viewport = LARGE,
        colorScheme = null,
      } = options;
      await page.setViewportSize(viewport ?? LARGE);
      await page.emulateMedia({ colorScheme, reducedMotion: moves ? 'no-preference' : 'reduce' });
      visits += 1;
      const kept = {
        visited: String(visits),
        ...stored,
        ...(token !== null && { 'troupe.adminToken': token }),
      };
      // Runs once per visit, so that values stored by the page survive a reload.
      const profile = await page.addInitScript(`${preloads ? '' : 'delete window.requestIdleCallback;'}
      ${LASTING_TOASTS}
      if (localStorage.visited !== '${visits}') {
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
        asked.push(`${request.method()} ${request.url().replace(home(), '')}`);
        const isOfProvider = provider !== undefined && request.url().startsWith(provider);
        if (!isOfProvider && !request.url().startsWith(home()) && !/^(data|blob):/.test(request.url()))
          t.fail(`the page sent a request to another host: ${request.url()}`);
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
        await page.goto(`${home()}${path}`);
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
