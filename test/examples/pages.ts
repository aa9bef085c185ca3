import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { launchChromium } from '../../bench/chromium.ts';
import { entriesFrom } from '../../src/settings/index.ts';
import { patchAgent } from '../service/patch-agent.ts';
import { withTools } from '../service/suspended.ts';
import type { TestTools } from '../service/tools.ts';
import { ADMIN_TOKEN, type Troupe } from '../service/troupe.ts';

/** The example pages in a real browser: built, and served from a separate address. */

/** Folder of screenshots, if any. */
const SHOTS = process.env.TROUPE_TEST_SCREENSHOTS;

export type Site = {
  origin: string;
  tabs: Tabs;
};

/** Tabs that tests reuse, because opening one takes longer than a test. The pages store nothing in the browser. */
export type Tabs = {
  /** Opens this page in a tab until the test ends. An error of the page fails the test. */
  open(t: Test, url: string): Promise<Page>;
  offline(isOffline: boolean): Promise<void>;
};

/** A service that accepts requests of these pages. */
export type Visited = {
  troupe: Troupe;
  tools: TestTools;
  /** Opens the page of this agent on thread `T`. `service`: another address of the service. */
  open(page: 'chat-page' | 'ag-ui-page', agentId: string, service?: string): Promise<Page>;
  /** Affects all tabs: new requests fail, and open streams continue. */
  offline(isOffline: boolean): Promise<void>;
  screenshot(page: Page, name: string): Promise<void>;
};

/** @param folders each with an `index.html` and a `main.tsx`; a page is named after its folder */
export const startSite = async (t: Test, folders: readonly string[]): Promise<Site> => {
  const dir = t.testdir();
  const pages = join(dir, 'pages');
  await buildPages(folders, pages);
  const origin = await serve(t, pages);
  const browser = await launchChromium();
  t.teardown(() => browser.close());
  return { origin, tabs: await tabsOf(browser) };
};

const tabsOf = async (browser: Browser): Promise<Tabs> => {
  const context = await browser.newContext({ viewport: { width: 760, height: 900 } });
  context.setDefaultTimeout(45_000);
  const idle: Page[] = [];
  return {
    offline: (isOffline) => context.setOffline(isOffline),
    async open(t, url) {
      const page = idle.pop() ?? (await context.newPage());
      page.on('pageerror', (error) => t.fail(`the page threw: ${error}`));
      t.teardown(async () => {
        // The service stops under the page, so errors of the page are ignored from here on.
        page.removeAllListeners('pageerror');
        await context.setOffline(false);
        await page.goto('about:blank');
        idle.push(page);
      });
      await page.goto(url);
      return page;
    },
  };
};

/** Development builds, in which React executes effects twice. */
const buildPages = async (folders: readonly string[], outdir: string): Promise<void> => {
  await build({
    entryPoints: folders.map((folder) => ({
      in: join(folder, 'main.tsx'),
      out: join(basename(folder), 'main'),
    })),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
  });
  for (const folder of folders) {
    const styles = join(outdir, basename(folder), 'main.css');
    const html = await readFile(join(folder, 'index.html'), 'utf8');
    const built = html.replace('./main.tsx', './main.js');
    const link = existsSync(styles) ? '<link rel="stylesheet" href="./main.css">' : '';
    await writeFile(join(outdir, basename(folder), 'index.html'), built + link);
  }
};

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

const serve = async (t: Test, dir: string): Promise<string> => {
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://site');
    const file = join(dir, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const content = await readFile(file).catch(() => undefined);
    response.writeHead(content ? 200 : 404, {
      'content-type': TYPES[extname(file)] ?? 'text/plain',
      // A browser that loads a script again has it compiled.
      'cache-control': 'max-age=3600',
    });
    response.end(content);
  });
  t.teardown(() => server.close());
  return listening(server);
};

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // The address of a TCP server has a port.
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });

export const visit = async (t: Test, { origin, tabs }: Site): Promise<Visited> => {
  const { troupe, tools } = await withTools(t, {
    settings: {
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: [origin] },
      seed: { profile: 'demo' },
    },
    // The test controls its model, and the page executes its own tools.
    app: {
      records: entriesFrom({
        agents: [
          {
            id: 'assistant',
            model_id: 'steps',
            plugin_ids: ['frontend_tools'],
            client_tools: ['askUserQuestion'],
          },
        ],
      }),
    },
  });
  // The page declares this tool, which these agents also have.
  for (const id of ['steps', 'slow']) {
    const patch = { client_tools: ['askUserQuestion'] };
    await patchAgent(t, troupe, id, patch);
  }
  return {
    troupe,
    tools,
    offline: tabs.offline,
    open: (name, agentId, service = troupe.url) =>
      tabs.open(t, `${origin}/${name}/?${new URLSearchParams({ service, agent: agentId, thread: 'T' })}`),
    async screenshot(page, name) {
      // Screenshots are taken on request only, because each takes as long as loading a page.
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
    },
  };
};

export type Line = {
  url: string;
  /** Disconnects all connections. */
  cut(): void;
};

/** A proxy to a service that can be disconnected. */
export const lineTo = async (t: Test, service: string): Promise<Line> => {
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createTcpServer((near) => {
    const far = connect(Number(new URL(service).port), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      // An error or close of one side closes the other.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const url = await listening(server);
  t.teardown(() => {
    cut();
    server.close();
  });
  return { url, cut };
};
