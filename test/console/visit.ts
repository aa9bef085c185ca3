import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { buildConsole } from '../../.build/console.ts';
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

/** The console as its users have it: built, served by a service, in a real browser. */

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const hasChromium = (): boolean => existsSync(CHROMIUM);

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
  go(path: string): Promise<void>;
};

export const startHouse = async (t: Test): Promise<House> => {
  await buildConsole();
  const troupe = await startDemo(t, {
    app: { consoleFolder: join(ROOT, 'dist/console'), plugins: [handsOver] },
    settings: {
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
      trace: { sampling_disable: true },
    },
  });
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-sync',
      '--disable-extensions',
      '--disable-software-rasterizer',
    ],
  });
  t.teardown(() => browser.close());
  return {
    troupe,
    async visit(t, { token = ADMIN_TOKEN, stored = {}, noisy = false, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
      context.setDefaultTimeout(20_000);
      t.teardown(() => context.close());
      const kept = { ...stored, ...(token !== null && { 'troupe.adminToken': token }) };
      // Only once: what the page stores itself stays when it is loaded again.
      await context.addInitScript(`if (!sessionStorage.visited) {
        sessionStorage.visited = '1';
        for (const [key, value] of Object.entries(${JSON.stringify(kept)})) localStorage.setItem(key, value);
      }`);
      const page = await context.newPage();
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
      return {
        page,
        context,
        said,
        asked,
        async go(path) {
          await page.goto(`${troupe.url}${path}`);
          await page.locator('h1, h2').first().waitFor();
        },
      };
    },
  };
};
