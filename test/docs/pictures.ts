import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import UPNG from 'upng-js';
import { buildConsole } from '../../.build/console.ts';
import { launchChromium } from '../../bench/chromium.ts';
import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/observability/log.ts';
import { WEATHER_QUESTION } from '../../src/schema/demo-question.ts';
import { settingsFrom } from '../../src/settings/index.ts';

/**
 * Takes the pictures of the documentation, from the console of a service with demo content: screenshots, and one
 * animated picture (APNG) of a conversation with the chart of its run.
 */

const FOLDER = fileURLToPath(new URL('../../src/docs/pictures', import.meta.url));
/** Not part of the package, because it is large. */
const ANIMATED = fileURLToPath(new URL('../../.github/pictures/chat.png', import.meta.url));
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

/** Starts a run and drops its stream, because a run continues without a reader. @returns its id */
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

/** The limit of the animated picture, which keeps the README fast. */
const MOST_BYTES = 1024 * 1024;
const COLORS = 128;
const LAST_FRAME_MS = 2500;
/** The longest picture without its last frame. On a busy machine, the scene takes longer and is shown faster. */
const MOST_MS = 7000;

type Frame = { png: Buffer; at: number };

/** Records each painted frame of the page until the scene has ended. */
const film = async (page: Page, scene: () => Promise<unknown>): Promise<Frame[]> => {
  const frames: Frame[] = [];
  const session = await page.context().newCDPSession(page);
  session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    const png = Buffer.from(data, 'base64');
    const at = (metadata.timestamp ?? 0) * 1000;
    if (!frames.at(-1)?.png.equals(png)) frames.push({ png, at });
    void session.send('Page.screencastFrameAck', { sessionId });
  });
  await session.send('Page.startScreencast', { format: 'png' });
  await scene();
  await session.send('Page.stopScreencast');
  // The browser may report a frame after a later one.
  return frames.sort((one, other) => one.at - other.at);
};

/** @throws if the result is too large */
const animated = (frames: readonly Frame[]): Buffer => {
  const images = frames.map(({ png }) => UPNG.decode(Uint8Array.from(png).buffer));
  const { width, height } = images[0] ?? { width: 0, height: 0 };
  const pixels = images.map((image) => UPNG.toRGBA8(image)[0] ?? new ArrayBuffer(0));
  const [first, last] = [frames[0]?.at ?? 0, frames.at(-1)?.at ?? 0];
  const speed = Math.max(1, (last - first) / MOST_MS);
  const delays = frames.map(({ at }, index) => {
    const next = frames[index + 1];
    return next ? (next.at - at) / speed : LAST_FRAME_MS;
  });
  const bytes = Buffer.from(UPNG.encode(pixels, width, height, COLORS, delays.map(Math.round)));
  if (bytes.length > MOST_BYTES) throw new Error(`the animated picture has ${bytes.length} bytes`);
  return bytes;
};

/** A run that calls a tool, waits for its approval, and answers. */
const converse = async (page: Page): Promise<void> => {
  const at = (state: string) => page.locator(`[data-state="${state}"][data-lit]`).waitFor();
  await page.getByPlaceholder('Type a message…').fill(WEATHER_QUESTION.en);
  await page.getByRole('button', { name: 'Send' }).click();
  await at('waiting');
  await page.waitForTimeout(1200);
  await page.getByTestId('sandbox-approval-allow').click();
  await at('completed');
  await page.waitForTimeout(600);
};

const chat = async (): Promise<void> => {
  const moving = await browser.newContext({ viewport: { width: 1420, height: 860 }, colorScheme: 'dark' });
  await moving.addInitScript(
    `localStorage.setItem('troupe.adminToken', '${TOKEN}'); localStorage.setItem('troupe.admin.rail', '1')`,
  );
  const page = await moving.newPage();
  await page.goto(`${app.url}/playground?agent=forecaster`);
  await page.locator('[data-state="created"]').waitFor();
  await page.getByRole('button', { name: WEATHER_QUESTION.en }).waitFor();
  writeFileSync(ANIMATED, animated(await film(page, () => converse(page))));
  await moving.close();
};

/** The same conversation while it waits. */
const waits = async (page: Page): Promise<void> => {
  await page.getByPlaceholder('Type a message…').fill(WEATHER_QUESTION.en);
  await page.keyboard.press('Enter');
  await page.locator('[data-state="waiting"][data-lit]').waitFor();
};

try {
  await chat();
  const asking = await startRun('forecaster', 'RUN_WEATHER_TOOL');
  for (let more = 0; more < 5; more += 1) await startRun('forecaster', 'RUN_WEATHER_TOOL');
  for (let more = 0; more < 24; more += 1) await startRun('writes', 'Write me a book.');
  for (let more = 0; more < 12; more += 1) await startRun('thinks', 'Think about it.');
  for (let more = 0; more < 8; more += 1) await startRun('default', 'Hello.');
  const chart = (page: Page) => page.getByRole('img', { name: /Statechart: waiting/ }).waitFor();
  await take('statecharts', '/statecharts/run', (page) => page.locator('canvas').waitFor());
  await take('run', `/runs/${asking}`, chart);
  await take('chat', '/playground?agent=forecaster', waits);
  await take('inbox', '/inbox', (page) => page.getByTestId('inbox-approve').first().waitFor());
  await take('runs', '/runs', (page) => page.locator('tbody tr').first().waitFor());
  await take('agent', '/agents/forecaster', (page) => page.getByPlaceholder('Type a message…').waitFor());
} finally {
  await browser.close();
  await app.stop();
  rmSync(dir, { recursive: true, force: true });
}
