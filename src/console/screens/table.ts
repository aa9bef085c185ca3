import type { Screen } from '../shell/screen.ts';

/** Of a new agent and of one that is stored: the same place, so that creating it leaves nothing behind. */
const agentEditor: Screen['load'] = () => import('./agent-editor/AgentEditor.tsx');

const skillEditor: Screen['load'] = () => import('./skills/SkillEditor.tsx');

/**
 * All screens, in the order in which the sidebar shows them. What is not here does not exist: no link leads to it, no
 * key, and no entry of the palette. A screen lives in a folder of its own, with its texts (`i18n/dictionaries.ts` lists
 * them); its module exports it as `default`, and is loaded when it is first shown.
 */
export const screens: readonly Screen[] = [
  {
    path: '/agents',
    label: 'nav.agents',
    nav: { group: 'agents', icon: 'agents', key: 'a' },
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
    path: '/playground',
    label: 'nav.playground',
    nav: { group: 'agents', icon: 'playground' },
    load: () => import('./playground/Playground.tsx'),
  },
  {
    path: '/assistant',
    label: 'nav.assistant',
    nav: { group: 'agents', icon: 'assistant' },
    load: () => import('./assistant/Assistant.tsx'),
  },
  {
    path: '/a2a-servers',
    label: 'nav.a2aServers',
    nav: { group: 'resources', icon: 'a2a' },
    load: () => import('./a2a-servers/A2aServers.tsx'),
  },
  {
    path: '/mcp-servers',
    label: 'nav.mcpServers',
    nav: { group: 'resources', icon: 'mcp', key: 'm' },
    load: () => import('./mcp-servers/McpServers.tsx'),
  },
  {
    path: '/mcp-servers/$id',
    label: 'nav.mcpServers',
    under: '/mcp-servers',
    load: () => import('./mcp-servers/McpServer.tsx'),
  },
  {
    path: '/skills',
    label: 'nav.skills',
    nav: { group: 'resources', icon: 'skills', key: 's' },
    load: () => import('./skills/Skills.tsx'),
  },
  { path: '/skills/new', label: 'nav.new', under: '/skills', load: skillEditor },
  { path: '/skills/$id', label: 'nav.skills', under: '/skills', load: skillEditor },
  {
    path: '/tools',
    label: 'nav.tools',
    nav: { group: 'resources', icon: 'tools', key: 't' },
    load: () => import('./tools/Tools.tsx'),
  },
  {
    path: '/tools/$id',
    label: 'nav.tools',
    under: '/tools',
    load: () => import('./tool-editor/ToolEditor.tsx'),
  },
  {
    path: '/providers',
    label: 'nav.providers',
    nav: { group: 'infrastructure', icon: 'providers', key: 'p' },
    load: () => import('./providers/Providers.tsx'),
  },
  {
    path: '/models',
    label: 'nav.models',
    nav: { group: 'infrastructure', icon: 'models', key: 'o' },
    load: () => import('./models/Models.tsx'),
  },
  {
    path: '/model-pools',
    label: 'nav.modelPools',
    nav: { group: 'infrastructure', icon: 'pools' },
    load: () => import('./model-pools/ModelPools.tsx'),
  },
  {
    path: '/inbox',
    label: 'nav.inbox',
    nav: { group: 'operate', icon: 'inbox', key: 'i' },
    load: () => import('./inbox/Inbox.tsx'),
  },
  {
    path: '/runs',
    label: 'nav.runs',
    nav: { group: 'operate', icon: 'runs', key: 'r' },
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
    nav: { group: 'operate', icon: 'threads', key: 'h' },
    load: () => import('./threads/Threads.tsx'),
  },
  {
    path: '/threads/$id',
    label: 'nav.threads',
    under: '/threads',
    load: () => import('./threads/ThreadDetail.tsx'),
  },
  {
    path: '/',
    label: 'nav.dashboard',
    nav: { group: 'observe', icon: 'dashboard', key: 'd' },
    load: () => import('./dashboard/Dashboard.tsx'),
  },
  {
    path: '/datasets',
    label: 'nav.datasets',
    nav: { group: 'observe', icon: 'datasets' },
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
    nav: { group: 'observe', icon: 'evalRuns' },
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
    nav: { group: 'observe', icon: 'reports' },
    load: () => import('./eval-reports/EvalReports.tsx'),
  },
  {
    path: '/statecharts',
    label: 'nav.statecharts',
    nav: { group: 'observe', icon: 'statecharts' },
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
    path: '/traces',
    label: 'nav.traces',
    nav: { group: 'observe', icon: 'traces' },
    load: () => import('./traces/Traces.tsx'),
  },
  {
    path: '/traces/$id',
    label: 'nav.traces',
    under: '/traces',
    load: () => import('./traces/Trace.tsx'),
  },
  {
    path: '/audit-log',
    label: 'nav.auditLog',
    nav: { group: 'observe', icon: 'audit', key: 'l' },
    load: () => import('./audit-log/AuditLog.tsx'),
  },
  {
    path: '/diagnostics',
    label: 'nav.diagnostics',
    nav: { group: 'observe', icon: 'diagnostics' },
    load: () => import('./diagnostics/Diagnostics.tsx'),
  },
  {
    path: '/system',
    label: 'nav.system',
    nav: { group: 'observe', icon: 'system' },
    load: () => import('./system/System.tsx'),
  },
];
