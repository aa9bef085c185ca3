const swc = require('@swc/core');

// The parser takes TSX when it is told so, which the cruiser does not do.
const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });

/**
 * The arrows between rooms. A room imports only what its row names (and itself), and there is no cycle.
 * `src/app.ts`, `src/main.ts` and `src/index.ts` compose; everything else is below them.
 */
const rooms = {
  machines: [],
  'src/schema': ['machines'],
  'src/client': ['src/schema'],
  'src/console': ['src/client', 'src/react', 'src/schema', 'machines'],
  'src/react': ['src/client', 'src/schema'],
  'src/processes': [],
  'src/store': ['src/processes', 'src/schema'],
  'src/models': ['machines', 'src/schema'],
  'src/ai-sdk': ['src/models', 'src/schema'],
  'src/tools': ['src/schema'],
  'src/plugins': ['src/processes', 'src/tools', 'src/models', 'src/schema'],
  'src/registry': ['src/store', 'src/models', 'src/tools', 'src/plugins', 'src/schema'],
  'src/telemetry': ['src/store', 'src/schema'],
  'src/otel': ['src/traces', 'src/runtime', 'src/loop', 'src/schema'],
  'src/loop': ['machines', 'src/models', 'src/tools', 'src/plugins', 'src/schema'],
  'src/assistant': ['src/runtime', 'src/registry', 'src/models', 'src/tools', 'src/store', 'src/schema'],
  'src/runtime': ['machines', 'src/store', 'src/loop', 'src/tools', 'src/schema'],
  'src/traces': ['src/loop', 'src/store', 'src/schema'],
  'src/evals': [
    'machines',
    'src/runtime',
    'src/registry',
    'src/loop',
    'src/plugins',
    'src/models',
    'src/tools',
    'src/traces',
    'src/store',
    'src/schema',
  ],
  'src/http': ['src/schema'],
  'src/settings': ['src/schema'],
  'src/terminal': [],
  'src/statecharts': ['machines', 'src/schema'],
  'src/events': ['src/store', 'src/schema'],
  'src/inspection': ['machines', 'src/statecharts', 'src/schema'],
  'src/programs': ['src/inspection', 'src/statecharts', 'src/http', 'src/schema'],
  'src/load': ['src/schema'],
  'src/a2a': ['machines', 'src/tools', 'src/schema'],
  'src/mcp': ['machines', 'src/processes', 'src/tools', 'src/schema'],
  'src/protocols': ['machines', 'src/a2a', 'src/runtime', 'src/http', 'src/store', 'src/tools', 'src/schema'],
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
      comment:
        'Only the composition root, the commands and the test kit may import the files directly under src/.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(commands|testing)/' },
      to: { path: '^src/[^/]+\\.ts$' },
    },
    {
      name: 'one-module-starts-programs',
      comment: 'A program inherits descriptors and variables unless `src/processes` starts it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/processes/' },
      to: { path: '^(node:)?(child_process|cluster)$' },
    },
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `arrows-of-${room.replace('src/', '')}`,
      severity: 'error',
      from: { path: `^${literal(room)}/` },
      to: {
        path: '^(src|machines)/',
        pathNot: [room, ...allowed].map((target) => `^${literal(target)}/`),
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
