import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ROOT } from '../run/places.ts';
import { asks } from '../service/models.ts';
import { farAgent, startPeer } from '../service/remote/peer.ts';
import { begin, headers } from './ask.ts';
import type { House } from './visit.ts';

/** What moves beside runs, seen as it moves: connections to tools, and tasks of other services. */

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

const path = (page: Page) => page.getByRole('region', { name: 'Path taken' }).first();
const shown = (page: Page, state: string) => page.locator(`svg [data-state="${state}"][data-lit]`).first();

export const onMachines = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;

  t.test('a server of tools that dies is seen being connected again', async (t) => {
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
    t.not(Number(readFileSync(file, 'utf8')), first, 'it is another process');
  });

  t.test('a task that another service does is seen moving here', async (t) => {
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
