import type { GrantText } from '../data/principal.ts';
import type { IconName } from '../design/Icon.tsx';
import type { Group, Screen, ShellText } from '../shell/screen.ts';

/**
 * Shared by new and stored agents, so that both addresses use the same component and creating an agent keeps its state.
 */
const agentEditor: Screen['load'] = () => import('./agent-editor/AgentEditor.tsx');

const skillEditor: Screen['load'] = () => import('./skills/SkillEditor.tsx');

type Name = ShellText extends infer T ? (T extends `nav.${infer N}` ? N : never) : never;

/** The group of the sidebar, the icon, and the key after `g` that opens the screen. */
type Place = `${Group} ${IconName}` | `${Group} ${IconName} ${string}`;

const placeOf = (place: Place): NonNullable<Screen['nav']> => {
  // The type has a group and an icon.
  const [group, icon, key] = place.split(' ') as [Group, IconName, string?];
  return { group, icon, ...(key !== undefined && { key }) };
};

/**
 * @param name of the screen, in the texts of the shell
 * @param nav its place in the sidebar; the other screens are parts of one there
 */
const screen = (
  path: string,
  name: Name,
  needs: GrantText | readonly GrantText[] | undefined,
  load: Screen['load'],
  nav?: Place,
): Screen => {
  const [, first, ...more] = path.split('/');
  return {
    path,
    label: `nav.${name}`,
    needs: typeof needs === 'string' ? [needs] : needs,
    load,
    ...(nav && { nav: placeOf(nav) }),
    ...(more.length > 0 && { under: `/${first}` }),
  };
};

/**
 * All screens, in the order of the sidebar. A path that is not listed here has no link, no shortcut and no palette
 * entry. Each screen has a folder with its texts (`dictionaries/all.ts` lists them); its module has a default export
 * and is loaded when it is first shown.
 */
export const screens: readonly Screen[] = [
  screen('/', 'dashboard', 'observe', () => import('./dashboard/Dashboard.tsx'), 'home dashboard d'),
  screen(
    '/playground',
    'playground',
    'invoke',
    () => import('./playground/Playground.tsx'),
    'home playground',
  ),
  screen('/inbox', 'inbox', 'read', () => import('./inbox/Inbox.tsx'), 'home inbox i'),
  screen('/runs', 'runs', 'read', () => import('./runs/RunsScreen.tsx'), 'home runs r'),
  screen('/runs/$id', 'runs', 'read', () => import('./run-detail/RunDetail.tsx')),
  screen('/threads', 'threads', 'read', () => import('./threads/Threads.tsx'), 'home threads h'),
  screen('/threads/$id', 'threads', 'read', () => import('./threads/ThreadDetail.tsx')),
  screen('/files', 'files', 'read', () => import('./files/Files.tsx'), 'home file'),
  screen('/traces', 'traces', 'observe', () => import('./traces/Traces.tsx'), 'home traces'),
  screen('/traces/$id', 'traces', 'observe', () => import('./traces/Trace.tsx')),
  screen(
    '/statecharts',
    'statecharts',
    'observe',
    () => import('./statecharts/Catalogue.tsx'),
    'home statecharts',
  ),
  screen('/statecharts/$machine', 'statecharts', 'observe', () => import('./statecharts/Machine.tsx')),
  screen(
    '/statecharts/programs/$program/$machine',
    'statecharts',
    'observe',
    () => import('./programs/ProgramMachine.tsx'),
  ),
  screen('/agents', 'agents', 'observe', () => import('./agents/Agents.tsx'), 'build agents a'),
  screen('/agents/new', 'new', 'configure:agents', agentEditor),
  screen('/agents/$id', 'agents', 'observe', agentEditor),
  screen('/agents/$id/dashboard', 'stats', 'observe', () => import('./agent-stats/AgentStats.tsx')),
  screen('/tools', 'tools', 'observe', () => import('./tools/Tools.tsx'), 'build tools t'),
  screen('/tools/$id', 'tools', 'observe', () => import('./tools/ToolPage.tsx')),
  screen('/skills', 'skills', 'observe', () => import('./skills/Skills.tsx'), 'build skills s'),
  screen('/skills/new', 'new', 'configure:skills', skillEditor),
  screen('/skills/$id', 'skills', 'observe', skillEditor),
  screen(
    '/mcp-servers',
    'mcpServers',
    'observe',
    () => import('./mcp-servers/McpServers.tsx'),
    'build mcp m',
  ),
  screen('/mcp-servers/$id', 'mcpServers', 'observe', () => import('./mcp-servers/McpServer.tsx')),
  screen('/a2a-servers', 'a2aServers', 'observe', () => import('./a2a-servers/A2aServers.tsx'), 'build a2a'),
  screen('/assistant', 'assistant', 'admin', () => import('./assistant/Assistant.tsx'), 'build assistant'),
  screen(
    '/providers',
    'providers',
    'observe',
    () => import('./providers/Providers.tsx'),
    'models providers p',
  ),
  screen('/models', 'models', 'observe', () => import('./models/Models.tsx'), 'models models o'),
  screen(
    '/model-pools',
    'modelPools',
    'observe',
    () => import('./model-pools/ModelPools.tsx'),
    'models pools',
  ),
  screen('/datasets', 'datasets', 'evaluate', () => import('./datasets/Datasets.tsx'), 'evaluate datasets'),
  screen('/datasets/$id', 'datasets', 'evaluate', () => import('./datasets/Dataset.tsx')),
  screen('/eval-runs', 'evalRuns', 'evaluate', () => import('./eval-runs/EvalRuns.tsx'), 'evaluate evalRuns'),
  screen('/eval-runs/$id', 'evalRuns', 'evaluate', () => import('./eval-runs/EvalRun.tsx')),
  screen(
    '/eval-reports',
    'evalReports',
    undefined,
    () => import('./eval-reports/EvalReports.tsx'),
    'evaluate reports',
  ),
  screen('/users', 'users', 'manage', () => import('./users/Users.tsx'), 'access users'),
  screen('/users/$id', 'users', undefined, () => import('./users/User.tsx')),
  screen('/keys', 'keys', undefined, () => import('./keys/Keys.tsx'), 'access key'),
  screen('/budgets', 'budgets', 'observe', () => import('./budgets/Budgets.tsx'), 'access budgets'),
  screen('/usage', 'usage', undefined, () => import('./usage/Usage.tsx'), 'access usage'),
  screen(
    '/connections',
    'connections',
    undefined,
    () => import('./connections/Connections.tsx'),
    'access connections',
  ),
  screen(
    '/access-log',
    'accessLog',
    ['observe', 'manage'],
    () => import('./access-log/AccessLog.tsx'),
    'access accessLog',
  ),
  screen('/audit-log', 'auditLog', 'observe', () => import('./audit-log/AuditLog.tsx'), 'system audit l'),
  screen(
    '/diagnostics',
    'diagnostics',
    'observe',
    () => import('./diagnostics/Diagnostics.tsx'),
    'system diagnostics',
  ),
  screen('/members', 'members', 'admin', () => import('./members/Members.tsx'), 'system members'),
  { ...screen('/sign-in', 'signIn', undefined, () => import('./sign-in/SignIn.tsx')), isBare: true },
  screen('/system', 'system', 'observe', () => import('./system/System.tsx'), 'system system'),
];
