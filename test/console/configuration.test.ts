import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { onAgentEditor } from './on-agent-editor.ts';
import { onAgents } from './on-agents.ts';
import { onContract } from './on-contract.ts';
import { onDashboard } from './on-dashboard.ts';
import { onDatasets } from './on-datasets.ts';
import { onEntries } from './on-entries.ts';
import { onPlugins } from './on-plugins.ts';
import { onPrograms } from './on-programs.ts';
import { onShell } from './on-shell.ts';
import { startHouse } from './visit.ts';

/** Browser tests of the shell and of the screens of configuration. All of them share one service and one browser. */

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const house = await startHouse(t);
  await t.test('the shell', (t) => onShell(t, house));
  await t.test('the agent editor', (t) => onAgentEditor(t, house));
  await t.test('operations on several agents', (t) => onAgents(t, house));
  await t.test('plugins and skills', (t) => onPlugins(t, house));
  await t.test('labels and roles that external tests use', (t) => onContract(t, house));
  await t.test('configuration entries and evaluations', (t) => onEntries(t, house));
  await t.test('datasets', (t) => onDatasets(t, house));
  await t.test('other programs', (t) => onPrograms(t, house));
  await t.test('the dashboard', (t) => onDashboard(t, house));
}
