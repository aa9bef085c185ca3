import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { buildConsole } from '../../.build/console.ts';
import { launchChromium } from '../../bench/chromium.ts';
import { startApp } from '../../src/app.ts';
import { settingsFrom } from '../../src/settings.ts';
import { createLog } from '../../src/telemetry/log.ts';

/** Takes the pictures of the README, of the console on a service that has something to show. */

const FOLDER = fileURLToPath(new URL('pictures', import.meta.url));
const TOKEN = 'pictures';

const SCRIPTS = {
  writes: { tokens: 4000, text: 'token ', delay_ms: 40 },
  thinks: { tokens: 10, text: 'token ', first_delay_ms: 600_000 },
};

const dir = mkdtempSync(join(tmpdir(), 'pictures-'));
await buildConsole();
const app = await startApp({
  settings: settingsFrom({
    http_addr: '127.0.0.1:0',
    storage_dir: dir,
    durability: 'process',
    shutdown_timeout_ms: 0,
    AdminApiConfig: { bearer_token: TOKEN },
    seed: { profile: 'demo' },
  }),
  log: createLog({ level: 'silent' }),
  consoleFolder: fileURLToPath(new URL('../../dist/console', import.meta.url)),
});

const post = async (path: string, body: object): Promise<Response> => {
  const response = await fetch(app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response;
};

/** Lets go of it as soon as it has begun: a run goes on without a reader. @returns its id */
const startRun = async (agentId: string, content: string): Promise<string> => {
  const response = await fetch(`${app.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId, messages: [{ role: 'user', content }] }),
  });
  let text = '';
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    const id = /"run_id":"([^"]+)"/.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  throw new Error(`no run began: ${text}`);
};

await post('/v1/config/providers', {
  id: 'slow',
  adapter: 'scripted',
  adapter_options: { scripts: SCRIPTS },
});
for (const id of Object.keys(SCRIPTS)) {
  await post('/v1/config/models', { id, provider_id: 'slow', upstream_model: id });
  await post('/v1/config/agents', { id, model_id: id, system_prompt: 'You answer at length.' });
}
await post('/v1/config/agents', {
  id: 'forecaster',
  model_id: 'default',
  system_prompt: 'You tell the weather. Ask before you call a tool.',
  plugin_ids: ['permission', 'observability'],
  sections: { permission: { default_behavior: 'ask', rules: [] } },
});

const browser = await launchChromium();
const context = await browser.newContext({
  viewport: { width: 1280, height: 760 },
  colorScheme: 'light',
  reducedMotion: 'reduce',
});
await context.addInitScript(`localStorage.setItem('troupe.adminToken', '${TOKEN}')`);

const take = async (name: string, path: string, ready: (page: Page) => Promise<unknown>): Promise<void> => {
  const page = await context.newPage();
  await page.goto(app.url + path);
  await ready(page);
  await page.waitForLoadState('load');
  await page.screenshot({ path: join(FOLDER, `${name}.jpg`), type: 'jpeg', quality: 62 });
  await page.close();
};

try {
  const asking = await startRun('forecaster', 'RUN_WEATHER_TOOL');
  for (let more = 0; more < 5; more += 1) await startRun('forecaster', 'RUN_WEATHER_TOOL');
  for (let more = 0; more < 30; more += 1) await startRun('writes', 'Write me a book.');
  for (let more = 0; more < 12; more += 1) await startRun('thinks', 'Think about it.');
  for (let more = 0; more < 8; more += 1) await startRun('default', 'Hello.');
  const chart = (page: Page) => page.getByRole('img', { name: /Statechart: waiting/ }).waitFor();
  await take('statecharts', '/statecharts/run', (page) => page.locator('canvas').waitFor());
  await take('run', `/runs/${asking}`, chart);
  await take('inbox', '/inbox', (page) => page.getByTestId('inbox-approve').first().waitFor());
  await take('runs', '/runs', (page) => page.locator('tbody tr').first().waitFor());
  await take('agent', '/agents/forecaster', (page) => page.getByPlaceholder('Type a message…').waitFor());
} finally {
  await browser.close();
  await app.stop();
  rmSync(dir, { recursive: true, force: true });
}
