import { texts as assistant } from '../assistant/texts.ts';
import { texts as chat } from '../chat/texts.ts';
import { designTexts } from '../design/texts.ts';
import { texts as entry } from '../entry/texts.ts';
import { texts as evals } from '../evals/texts.ts';
import { texts as fixtures } from '../fixtures/texts.ts';
import { texts as fork } from '../fork/texts.ts';
import { texts as history } from '../history/texts.ts';
import { listTexts } from '../list/texts.ts';
import { texts as modelSettings } from '../model-settings/texts.ts';
import { texts as remote } from '../remote/texts.ts';
import { texts as runs } from '../runs/texts.ts';
import { texts as sandbox } from '../sandbox/texts.ts';
import { texts as schemaForm } from '../schema-form/texts.ts';
import { texts as a2aServers } from '../screens/a2a-servers/texts.ts';
import { texts as agentAdvanced } from '../screens/agent-editor/advanced/texts.ts';
import { texts as agentBasics } from '../screens/agent-editor/basics/texts.ts';
import { texts as agentHistory } from '../screens/agent-editor/history/texts.ts';
import { texts as agentPlugins } from '../screens/agent-editor/plugins/texts.ts';
import { texts as agentReferences } from '../screens/agent-editor/references/texts.ts';
import { texts as agentEditor } from '../screens/agent-editor/texts.ts';
import { texts as agentTools } from '../screens/agent-editor/tools/texts.ts';
import { texts as agentStats } from '../screens/agent-stats/texts.ts';
import { texts as agents } from '../screens/agents/texts.ts';
import { texts as assistantScreen } from '../screens/assistant/texts.ts';
import { texts as auditLog } from '../screens/audit-log/texts.ts';
import { texts as dashboard } from '../screens/dashboard/texts.ts';
import { texts as datasets } from '../screens/datasets/texts.ts';
import { texts as diagnostics } from '../screens/diagnostics/texts.ts';
import { texts as evalReports } from '../screens/eval-reports/texts.ts';
import { texts as evalRuns } from '../screens/eval-runs/texts.ts';
import { texts as inbox } from '../screens/inbox/texts.ts';
import { texts as mcpServers } from '../screens/mcp-servers/texts.ts';
import { texts as modelPools } from '../screens/model-pools/texts.ts';
import { texts as models } from '../screens/models/texts.ts';
import { texts as playground } from '../screens/playground/texts.ts';
import { texts as programs } from '../screens/programs/texts.ts';
import { texts as providers } from '../screens/providers/texts.ts';
import { texts as runDetail } from '../screens/run-detail/texts.ts';
import { texts as runsScreen } from '../screens/runs/texts.ts';
import { texts as skills } from '../screens/skills/texts.ts';
import { texts as statecharts } from '../screens/statecharts/texts.ts';
import { texts as system } from '../screens/system/texts.ts';
import { texts as threads } from '../screens/threads/texts.ts';
import { texts as toolEditor } from '../screens/tool-editor/texts.ts';
import { texts as tools } from '../screens/tools/texts.ts';
import { texts as traces } from '../screens/traces/texts.ts';
import { shellTexts } from '../shell/texts.ts';
import { texts as snippets } from '../snippets/texts.ts';
import { texts as statechart } from '../statechart/texts.ts';
import { texts as trace } from '../trace/texts.ts';
import type { Text, Texts } from './texts.ts';

/**
 * All texts, by whose they are. Nothing of the console reads this, since each screen loads its own: it is for who maps
 * texts of one language to the other, such as tests.
 */
export const dictionaries: Readonly<Record<string, Texts>> = {
  design: designTexts,
  list: listTexts,
  shell: shellTexts,
  a2aServers,
  modelSettings,
  agentAdvanced,
  agentBasics,
  agentEditor,
  agentHistory,
  agentPlugins,
  agentReferences,
  agentStats,
  agentTools,
  agents,
  assistant,
  assistantScreen,
  auditLog,
  chat,
  dashboard,
  entry,
  datasets,
  diagnostics,
  evalReports,
  evalRuns,
  evals,
  fixtures,
  fork,
  history,
  inbox,
  mcpServers,
  modelPools,
  models,
  playground,
  providers,
  remote,
  runDetail,
  runs,
  runsScreen,
  sandbox,
  schemaForm,
  skills,
  snippets,
  statechart,
  programs,
  statecharts,
  system,
  threads,
  toolEditor,
  tools,
  trace,
  traces,
};

/** In one language, under `<whose>.<key>`. */
export const dictionaryIn = (language: 'en' | 'zhCN'): Readonly<Record<string, Text>> =>
  Object.fromEntries(
    Object.entries(dictionaries).flatMap(([whose, texts]) =>
      Object.entries(texts[language]).map(([key, text]) => [`${whose}.${key}`, text]),
    ),
  );
