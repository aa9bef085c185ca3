import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { SERVER } from '../mcp/manage.ts';
import { ROOT } from '../run/places.ts';
import { asks } from '../service/models.ts';
import { farAgent, startPeer } from '../service/remote/peer.ts';
import { eventually } from '../service/troupe.ts';
import { ASKS_FIRST, ask, begin, headers } from './ask.ts';
import { becomesTrue, type House } from './visit.ts';

/** Statecharts of other actors than runs: MCP connections and remote tasks. */

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

const path = (page: Page) => page.getByRole('region', { name: 'Path taken' }).first();
const shown = (page: Page, state: string) => page.locator(`svg [data-state="${state}"][data-lit]`).first();

/** Waits until the chart has dots in the color of a token. The edges of dots are blended, so colors are compared roughly. */
const hasDots = (page: Page, token: string) =>
  becomesTrue(
    page,
    `(() => {
    const color = getComputedStyle(document.documentElement).getPropertyValue('${token}').trim();
    const wanted = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
    const canvas = document.querySelector('canvas');
    // A copy, because reading the canvas of the page would change how it is drawn.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 120 && wanted.every((part, index) => Math.abs(part - data[at + index]) < 8)) return true;
    }
    return false;
  })()`,
  );

export const onMachines = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;

  t.test('shows the reconnection to a killed MCP server', async (t) => {
    const file = join(t.testdir(), 'pid');
    const tells = `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(file)}, String(process.pid));`;
    const server = {
      id: 'mortal',
      transport: 'stdio',
      command: process.execPath,
      args: ['--import', `data:text/javascript,${encodeURIComponent(tells)}`, MEMORY],
      restart_policy: { enabled: true, delay_ms: 200, max_delay_ms: 200 },
    };
    await troupe.call('POST', '/v1/config/mcp-servers', server, headers);
    t.teardown(() => troupe.call('DELETE', '/v1/config/mcp-servers/mortal', undefined, headers));
    const { page, go } = await house.visit(t);
    await go('/statecharts/mcp-connection');
    await page.getByTestId(/^actor-mcp-connection:.*mortal/).click();
    await shown(page, 'ready').waitFor();
    const first = Number(readFileSync(file, 'utf8'));
    process.kill(first, 'SIGKILL');
    await path(page).getByText('LOST').waitFor();
    await path(page)
      .getByText(/→ reconnecting/)
      .waitFor();
    await path(page)
      .getByText(/→ ready/)
      .first()
      .waitFor();
    await shown(page, 'ready').waitFor();
    t.not(Number(readFileSync(file, 'utf8')), first, 'the process was replaced');
  });

  t.test('names the dots of runs, and replays a run that ended before the page was opened', async (t) => {
    const { run_id } = await ask(troupe, 'echo', 'Replay me');
    troupe.models.steps.push(asks(['c1', 'get_weather', { location: 'Rome' }]));
    await troupe.call('POST', '/v1/config/agents', { ...ASKS_FIRST, id: 'asks-on-wall' }, headers);
    await ask(troupe, 'asks-on-wall', 'Who am I?');
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 }, moves: true });
    await go('/statecharts/run');
    await page.getByText('Who am I?').waitFor();
    const box = await page.locator('svg [data-state="waiting"] rect').first().boundingBox();
    t.ok(box);
    if (!box) return;
    const tooltip = page.getByRole('tooltip').filter({ hasText: 'asks-on-wall' });
    // A dot that arrives under a resting pointer has no tooltip.
    await eventually(
      async () => {
        await page.mouse.move(box.x + 8, box.y + box.height - 8);
        await page.mouse.move(box.x + 9, box.y + box.height - 9);
        return tooltip.isVisible();
      },
      (isVisible) => isVisible,
    );
    const legend = page.getByRole('list', { name: 'Colors of the dots' });
    await legend.getByText('Waiting').waitFor();
    await hasDots(page, '--warn');
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    const mark = legend.getByRole('listitem').filter({ hasText: 'asks-on-wall' });
    await mark.waitFor();
    await hasDots(page, (await mark.getAttribute('data-mark')) ?? '');
    await page.getByRole('button', { name: 'Full screen' }).click();
    await page.locator(':fullscreen [data-state="waiting"]').first().waitFor();
    await page.evaluate('document.exitFullscreen()');

    await go(`/statecharts/run?actor=run:${run_id}`);
    await shown(page, 'completed').waitFor();
    await page.getByText('Replay me').waitFor();
    await path(page).getByText('→ completed').waitFor();
    await page.getByTestId('time-travel-slider').press('Home');
    await shown(page, 'created').waitFor();
    const link = page.getByRole('link', { name: 'Open run' });
    t.equal(await link.getAttribute('href'), `/runs/${run_id}`);
  });

  t.test('links the tools of an MCP server whose names contain dashes', async (t) => {
    const id = 'with-dashes';
    const server = {
      id,
      transport: 'stdio',
      command: process.execPath,
      args: [SERVER],
      env: { TOOLS: 'get-sum,print-env' },
    };
    await troupe.call('POST', '/v1/config/mcp-servers', server, headers);
    t.teardown(() => troupe.call('DELETE', `/v1/config/mcp-servers/${id}`, undefined, headers));
    const { page, go, asked, rest } = await house.visit(t);
    await go(`/mcp-servers/${id}`);
    await page.getByRole('link', { name: 'mcp__with_dashes__get_sum' }).waitFor();
    await page.getByRole('link', { name: 'mcp__with_dashes__print_env' }).waitFor();
    t.equal(await page.getByText('not registered').count(), 0);
    // The page of a tool without an entry asks for none: a 404 would be an error message of the browser.
    await page.getByRole('link', { name: 'mcp__with_dashes__get_sum' }).click();
    await page.getByText('The source of the tool defines its description.').waitFor();
    await rest();
    t.strictSame(
      asked.filter((line) => line.includes('/v1/config/tools/mcp__')),
      [],
    );
  });

  t.test('shows the progress of a task at another service', async (t) => {
    const peer = await startPeer(t);
    const boss = { id: 'far-boss', model_id: 'steps', system_prompt: 'x', max_rounds: 8, delegates: ['far'] };
    for (const agent of [farAgent(peer), boss])
      await troupe.call('POST', '/v1/config/agents', agent, headers);
    const { page, go } = await house.visit(t);
    await go('/statecharts/remote-task');
    troupe.models.steps.push(asks(['far-call', 'agent_run_far', { prompt: 'Count the sheep' }]));
    const { run_id } = await begin(troupe, 'far-boss', 'How many?');
    const task = await peer.task();
    await page.getByTestId(`actor-remote-task:${run_id}-far-call`).click();
    await shown(page, 'open').waitFor();
    task.becomes('TASK_STATE_COMPLETED', 'three');
    await shown(page, 'settled').waitFor();
    await page.getByText('ended', { exact: true }).first().waitFor();
    t.ok(await path(page).getByRole('listitem').count());
  });
};
