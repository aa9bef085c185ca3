import { buildApi } from '../../.build/api.ts';
import type { ApiExport, ApiModule } from '../../.build/api-modules.ts';

/** The examples of the exports of the package, as programs. */

export type Example = { language: string; code: string };

export const examplesIn = ({ examples }: ApiExport): Example[] =>
  examples.flatMap((text) =>
    Array.from(text.matchAll(/```(\w+)\n([\s\S]*?)\n```/g), ([, language = '', code = '']) => ({
      language,
      code,
    })),
  );

/** Names that examples use without a definition, as the page on the API of the package states. */
const FREE: Readonly<Record<string, (module: string) => string>> = {
  client: () => "declare const client: import('troupe/client').Client;",
  troupe: (module) =>
    module === 'troupe/testing'
      ? "declare const troupe: import('troupe/testing').TestTroupe;"
      : "declare const troupe: import('troupe').Troupe;",
  z: () => "import { z } from 'zod';",
};

const uses = (code: string, name: string): boolean =>
  new RegExp(`(?<![.\\w$'])${name}\\b(?!\\??:)`).test(code);

const defines = (code: string, name: string): boolean =>
  new RegExp(`\\b(const|let|using|class|type|function) ${name}\\b|^import [^;]*\\b${name}\\b`, 'm').test(
    code,
  );

/** Names that the example uses and leaves undefined, other than `z`. */
export const freeNamesOf = (code: string): string[] =>
  ['client', 'troupe'].filter((name) => uses(code, name) && !defines(code, name));

/** An example as a program: with the imports of its module, and definitions of free names. */
export const programOfExample = ({ code }: Example, { name: module, exports, others }: ApiModule): string => {
  const names = [...exports, ...others].map(({ name }) => name);
  const imported = names.filter((name) => uses(code, name) && !defines(code, name));
  const free = Object.entries(FREE).filter(([name]) => uses(code, name) && !defines(code, name));
  return [
    ...(imported.length > 0 ? [`import { ${imported.join(', ')} } from '${module}';`] : []),
    ...free.map(([, define]) => define(module)),
    code,
    'export {};',
    '',
  ].join('\n');
};

/** All examples by file name, for the type checker. Those of pages have the extension of React. */
export const examplePrograms = async (): Promise<Map<string, string>> =>
  new Map(
    (await buildApi()).flatMap((module) =>
      // Some names differ only in case, which some file systems ignore.
      module.exports.flatMap((each, position) =>
        examplesIn(each).map((example) => [
          `${module.page.replace('/', '-')}-${position}-${each.name}.${module.name === 'troupe/react' ? 'tsx' : 'ts'}`,
          programOfExample(example, module),
        ]),
      ),
    ),
  );
