const swc = require('@swc/core');

// The cruiser does not enable TSX in the parser.
const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });

/**
 * The modules, and what each may import in addition to its own files. Cycles are not allowed. The files directly in
 * `src`, `src/composition` and `src/embedding` assemble the service: no module below imports them.
 */
const modules = {
  machines: [],
  'src/schema': ['machines'],
  'src/client': ['src/schema'],
  'src/console': ['src/client', 'src/react', 'src/schema', 'machines'],
  'src/manual': [],
  'src/react': ['src/client', 'src/schema'],
  'src/processes': [],
  'src/compiled-code': [],
  'src/store': ['src/processes', 'src/schema'],
  'src/postgres': ['src/processes', 'src/store', 'src/schema'],
  'src/cluster': ['machines', 'src/postgres', 'src/store', 'src/http', 'src/schema'],
  'src/budgets': ['src/store', 'src/schema'],
  'src/models': ['machines', 'src/processes', 'src/schema'],
  'src/ai-sdk': ['src/models', 'src/schema'],
  'src/tools': ['src/schema'],
  'src/plugins': ['src/processes', 'src/tools', 'src/models', 'src/schema'],
  'src/configuration': ['src/store', 'src/models', 'src/tools', 'src/plugins', 'src/schema'],
  'src/observability': ['src/runtime', 'src/loop', 'src/store', 'src/schema'],
  'src/loop': ['machines', 'src/models', 'src/tools', 'src/plugins', 'src/schema'],
  'src/assistant': ['src/runtime', 'src/configuration', 'src/models', 'src/tools', 'src/store', 'src/schema'],
  'src/runtime': ['machines', 'src/store', 'src/loop', 'src/tools', 'src/schema'],
  'src/evals': [
    'machines',
    'src/runtime',
    'src/configuration',
    'src/loop',
    'src/plugins',
    'src/models',
    'src/tools',
    'src/observability',
    'src/store',
    'src/schema',
  ],
  'src/files': ['src/store', 'src/schema'],
  'src/http': ['src/schema'],
  'src/idempotency': ['src/store', 'src/schema'],
  'src/identity': ['src/store', 'src/outbound', 'src/schema'],
  'src/outbound': ['src/schema'],
  'src/connections': ['machines', 'src/store', 'src/outbound', 'src/schema'],
  'src/settings': ['src/schema'],
  'src/terminal': ['src/schema'],
  'src/diagrams': ['machines', 'src/schema'],
  'src/events': ['src/store', 'src/schema'],
  'src/inspection': ['machines', 'src/diagrams', 'src/schema'],
  'src/programs': ['src/inspection', 'src/diagrams', 'src/http', 'src/schema'],
  'src/load-generator': ['src/schema'],
  'src/a2a': ['machines', 'src/outbound', 'src/tools', 'src/schema'],
  'src/mcp': ['machines', 'src/processes', 'src/tools', 'src/schema'],
  'src/protocols': [
    'machines',
    'src/identity',
    'src/a2a',
    'src/files',
    'src/outbound',
    'src/runtime',
    'src/http',
    'src/store',
    'src/tools',
    'src/schema',
  ],
};

const literal = (path) => path.replaceAll('/', '\\/');

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'machines-are-pure',
      comment: 'A statechart imports xstate and other statecharts, nothing else.',
      severity: 'error',
      from: { path: '^machines/' },
      to: { pathNot: ['^machines/', '^node_modules/xstate/'] },
    },
    {
      name: 'composition-stays-on-top',
      comment: 'Only the commands and the test kit may import the modules that assemble the service.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(commands|testing|composition|embedding)/' },
      to: { path: '^src/([^/]+\\.ts$|composition/|embedding/)' },
    },
    {
      name: 'one-module-starts-programs',
      comment: 'A program inherits descriptors and variables unless `src/processes` starts it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/processes/' },
      to: { path: '^(node:)?(child_process|cluster)$' },
    },
    {
      name: 'one-module-imports-the-driver',
      comment:
        'The driver of PostgreSQL is loaded with the first connection, and its types stay behind `connection.ts`.',
      severity: 'error',
      from: { pathNot: '^src/postgres/connection\\.ts$' },
      to: { path: '^node_modules/(@types/)?pg/' },
    },
    {
      name: 'access-names-partitions',
      comment:
        'Routes and protocols receive the partition of a thread from `src/identity/access` (identity.md 1.4); without it they reach only threads without an owner.',
      severity: 'error',
      from: { path: '^src/(routes|protocols|embedding)/' },
      to: { path: '^src/schema/partition\\.ts$' },
    },
    {
      name: 'screens-stay-on-top',
      comment:
        'What several screens of the console share imports neither a screen nor the shell around them.',
      severity: 'error',
      from: { path: '^src/console/[^/]+/', pathNot: '^src/console/(screens|shell|dictionaries)/' },
      to: { path: '^src/console/(screens|shell|dictionaries)/' },
    },
    ...Object.entries(modules).map(([module, allowed]) => ({
      name: `imports-of-${module.replace('src/', '')}`,
      severity: 'error',
      from: { path: `^${literal(module)}/` },
      to: {
        path: '^(src|machines)/',
        pathNot: [module, ...allowed].map((target) => `^${literal(target)}/`),
      },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      conditionNames: ['import', 'types', 'node'],
    },
  },
};
