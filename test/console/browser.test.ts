import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { onAgentEditor } from './on-agent-editor.ts';
import { onAgents } from './on-agents.ts';
import { onChat } from './on-chat.ts';
import { onContract } from './on-contract.ts';
import { onDashboard } from './on-dashboard.ts';
import { onDatasets } from './on-datasets.ts';
import { onEntries } from './on-entries.ts';
import { onFiles } from './on-files.ts';
import { onInbox } from './on-inbox.ts';
import { onMachines } from './on-machines.ts';
import { onPlayground } from './on-playground.ts';
import { onPlugins } from './on-plugins.ts';
import { onPrograms } from './on-programs.ts';
import { onRunDetail } from './on-run-detail.ts';
import { onRuns } from './on-runs.ts';
import { onShell } from './on-shell.ts';
import { onTalk } from './on-talk.ts';
import { onThreads } from './on-threads.ts';
import { onTraces } from './on-traces.ts';
import { startHouse } from './visit.ts';

/** Browser tests of the console against a real service. All of them share one service and one browser. */

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const house = await startHouse(t);
  await t.test('the shell', (t) => onShell(t, house));
  await t.test('the agent editor', (t) => onAgentEditor(t, house));
  await t.test('operations on several agents', (t) => onAgents(t, house));
  await t.test('plugins and skills', (t) => onPlugins(t, house));
  await t.test('conversations', (t) => onChat(t, house));
  await t.test('the playground', (t) => onPlayground(t, house));
  await t.test('files in conversations', (t) => onFiles(t, house));
  await t.test('effects of conversations', (t) => onTalk(t, house));
  await t.test('labels and roles that external tests use', (t) => onContract(t, house));
  await t.test('configuration entries and evaluations', (t) => onEntries(t, house));
  await t.test('datasets', (t) => onDatasets(t, house));
  await t.test('the run screen', (t) => onRunDetail(t, house));
  await t.test('the list of runs', (t) => onRuns(t, house));
  await t.test('the inbox', (t) => onInbox(t, house));
  await t.test('threads', (t) => onThreads(t, house));
  await t.test('traces', (t) => onTraces(t, house));
  await t.test('connections and remote tasks', (t) => onMachines(t, house));
  await t.test('other programs', (t) => onPrograms(t, house));
  await t.test('the dashboard', (t) => onDashboard(t, house));
}
