import type { Plugin } from 'vite';
import { describeAll } from '../src/diagrams/describe.ts';

/**
 * Lays out every machine when the console is built, so that browsers load no layout engine: the module
 * `virtual:statecharts` exports the layouts by name, each in a separate chunk.
 */

const ALL = 'virtual:statecharts';
const ONE = /^virtual:statechart\/([a-z0-9-]+)$/;

const loaderOf = (name: string): string =>
  `${JSON.stringify(name)}: () => import('virtual:statechart/${name}')`;

export const statecharts = (): Plugin => {
  const machines = describeAll();
  return {
    name: 'statecharts',
    resolveId: (id) => (id === ALL || ONE.test(id) ? `\0${id}` : undefined),
    async load(resolved) {
      const id = resolved.startsWith('\0') ? resolved.slice(1) : '';
      if (id === ALL) return `export default { ${machines.map(({ name }) => loaderOf(name)).join(', ')} };`;
      const machine = machines.find(({ name }) => name === ONE.exec(id)?.[1]);
      if (!machine) return undefined;
      // Only builds need the layout engine.
      const { chartLevels } = await import('../src/diagrams/chart.ts');
      return `export default JSON.parse(${JSON.stringify(JSON.stringify(await chartLevels(machine)))});`;
    },
  };
};
