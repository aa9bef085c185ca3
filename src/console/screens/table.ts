import type { Screen } from '../shell/screen.ts';

/**
 * Shared by new and stored agents, so that both addresses use the same component and creating an agent keeps its state.
 */
const agentEditor: Screen['load'] = () => import('./agent-editor/AgentEditor.tsx');

const skillEditor: Screen['load'] = () => import('./skills/SkillEditor.tsx');

/**
 * All screens, in the order of the sidebar. A path that is not listed here has no link, no shortcut and no palette
 * entry. Each screen has a folder with its texts (`dictionaries/all.ts` lists them); its module has a default export
 * and is loaded when it is first shown.
 */
export const screens: readonly Screen[] = [
  {
    path: '/',
    label: 'nav.dashboard',
    nav: { group: 'home', icon: 'dashboard', key: 'd' },
    load: () => import('./dashboard/Dashboard.tsx'),
  },
  {
    path: '/playground',
    label: 'nav.playground',
    nav: { group: 'home', icon: 'playground' },
    load: () => import('./playground/Playground.tsx'),
  },
  {
    path: '/inbox',
    label: 'nav.inbox',
    nav: { group: 'home', icon: 'inbox', key: 'i' },
    load: () => import('./inbox/Inbox.tsx'),
  },
  {
    path: '/runs',
    label: 'nav.runs',
    nav: { group: 'home', icon: 'runs', key: 'r' },
    load: () => import('./runs/RunsScreen.tsx'),
  },
  {
    path: '/runs/$id',
    label: 'nav.runs',
    under: '/runs',
    load: () => import('./run-detail/RunDetail.tsx'),
  },
  {
    path: '/threads',
    label: 'nav.threads',
    nav: { group: 'home', icon: 'threads', key: 'h' },
    load: () => import('./threads/Threads.tsx'),
  },
  {
    path: '/threads/$id',
    label: 'nav.threads',
    under: '/threads',
    load: () => import('./threads/ThreadDetail.tsx'),
  },
  {
    path: '/traces',
    label: 'nav.traces',
    nav: { group: 'home', icon: 'traces' },
    load: () => import('./traces/Traces.tsx'),
  },
  {
    path: '/traces/$id',
    label: 'nav.traces',
    under: '/traces',
    load: () => import('./traces/Trace.tsx'),
  },
  {
    path: '/statecharts',
    label: 'nav.statecharts',
    nav: { group: 'home', icon: 'statecharts' },
    load: () => import('./statecharts/Catalogue.tsx'),
  },
  {
    path: '/statecharts/$machine',
    label: 'nav.statecharts',
    under: '/statecharts',
    load: () => import('./statecharts/Machine.tsx'),
  },
  {
    path: '/statecharts/programs/$program/$machine',
    label: 'nav.statecharts',
    under: '/statecharts',
    load: () => import('./programs/ProgramMachine.tsx'),
  },
  {
    path: '/agents',
    label: 'nav.agents',
    nav: { group: 'build', icon: 'agents', key: 'a' },
    load: () => import('./agents/Agents.tsx'),
  },
  { path: '/agents/new', label: 'nav.new', under: '/agents', load: agentEditor },
  { path: '/agents/$id', label: 'nav.agents', under: '/agents', load: agentEditor },
  {
    path: '/agents/$id/dashboard',
    label: 'nav.stats',
    under: '/agents',
    load: () => import('./agent-stats/AgentStats.tsx'),
  },
  {
    path: '/tools',
    label: 'nav.tools',
    nav: { group: 'build', icon: 'tools', key: 't' },
    load: () => import('./tools/Tools.tsx'),
  },
  {
    path: '/tools/$id',
    label: 'nav.tools',
    under: '/tools',
    load: () => import('./tools/ToolPage.tsx'),
  },
  {
    path: '/skills',
    label: 'nav.skills',
    nav: { group: 'build', icon: 'skills', key: 's' },
    load: () => import('./skills/Skills.tsx'),
  },
  { path: '/skills/new', label: 'nav.new', under: '/skills', load: skillEditor },
  { path: '/skills/$id', label: 'nav.skills', under: '/skills', load: skillEditor },
  {
    path: '/mcp-servers',
    label: 'nav.mcpServers',
    nav: { group: 'build', icon: 'mcp', key: 'm' },
    load: () => import('./mcp-servers/McpServers.tsx'),
  },
  {
    path: '/mcp-servers/$id',
    label: 'nav.mcpServers',
    under: '/mcp-servers',
    load: () => import('./mcp-servers/McpServer.tsx'),
  },
  {
    path: '/a2a-servers',
    label: 'nav.a2aServers',
    nav: { group: 'build', icon: 'a2a' },
    load: () => import('./a2a-servers/A2aServers.tsx'),
  },
  {
    path: '/assistant',
    label: 'nav.assistant',
    nav: { group: 'build', icon: 'assistant' },
    load: () => import('./assistant/Assistant.tsx'),
  },
  {
    path: '/providers',
    label: 'nav.providers',
    nav: { group: 'models', icon: 'providers', key: 'p' },
    load: () => import('./providers/Providers.tsx'),
  },
  {
    path: '/models',
    label: 'nav.models',
    nav: { group: 'models', icon: 'models', key: 'o' },
    load: () => import('./models/Models.tsx'),
  },
  {
    path: '/model-pools',
    label: 'nav.modelPools',
    nav: { group: 'models', icon: 'pools' },
    load: () => import('./model-pools/ModelPools.tsx'),
  },
  {
    path: '/datasets',
    label: 'nav.datasets',
    nav: { group: 'evaluate', icon: 'datasets' },
    load: () => import('./datasets/Datasets.tsx'),
  },
  {
    path: '/datasets/$id',
    label: 'nav.datasets',
    under: '/datasets',
    load: () => import('./datasets/Dataset.tsx'),
  },
  {
    path: '/eval-runs',
    label: 'nav.evalRuns',
    nav: { group: 'evaluate', icon: 'evalRuns' },
    load: () => import('./eval-runs/EvalRuns.tsx'),
  },
  {
    path: '/eval-runs/$id',
    label: 'nav.evalRuns',
    under: '/eval-runs',
    load: () => import('./eval-runs/EvalRun.tsx'),
  },
  {
    path: '/eval-reports',
    label: 'nav.evalReports',
    nav: { group: 'evaluate', icon: 'reports' },
    load: () => import('./eval-reports/EvalReports.tsx'),
  },
  {
    path: '/users',
    label: 'nav.users',
    nav: { group: 'access', icon: 'users' },
    load: () => import('./users/Users.tsx'),
  },
  {
    path: '/users/$id',
    label: 'nav.users',
    under: '/users',
    load: () => import('./users/User.tsx'),
  },
  {
    path: '/keys',
    label: 'nav.keys',
    nav: { group: 'access', icon: 'key' },
    load: () => import('./keys/Keys.tsx'),
  },
  {
    path: '/budgets',
    label: 'nav.budgets',
    nav: { group: 'access', icon: 'budgets' },
    load: () => import('./budgets/Budgets.tsx'),
  },
  {
    path: '/audit-log',
    label: 'nav.auditLog',
    nav: { group: 'system', icon: 'audit', key: 'l' },
    load: () => import('./audit-log/AuditLog.tsx'),
  },
  {
    path: '/diagnostics',
    label: 'nav.diagnostics',
    nav: { group: 'system', icon: 'diagnostics' },
    load: () => import('./diagnostics/Diagnostics.tsx'),
  },
  {
    path: '/system',
    label: 'nav.system',
    nav: { group: 'system', icon: 'system' },
    load: () => import('./system/System.tsx'),
  },
];
