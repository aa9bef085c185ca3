import { mkdirSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Command, type CommanderError, Option } from 'commander';
import { bar, createProgress } from '../terminal/progress.ts';
import { addressed, type Connection } from './admin-client.ts';
import { applyPlan } from './config/apply.ts';
import { type Bundle, type Format, NAMESPACES, readBundle, writeDocument } from './config/bundle.ts';
import { exportBundle } from './config/export.ts';
import { linesOf, planImport } from './config/plan.ts';
import { ConfigProblems } from './config/problems.ts';
import { connectService } from './config/service.ts';
import { readEnvironment } from './environment.ts';
import { guarded } from './usage.ts';

/**
 * `troupe config`: the configuration of a running service as files, over its public routes. Exit codes: 0, 1 when
 * something is wrong with the configuration or the service refuses it, 2 when the command cannot begin.
 */

const say = (lines: readonly string[]): void => {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
};

const DOCUMENT = `
The document has the entries of each namespace as a list under its name, and under "overrides" what was changed of
built-in agents and tools:

  providers:
    - id: main
      adapter: openai
      api_key: \${OPENAI_API_KEY}
  models:
    - { id: small, provider_id: main, upstream_model: gpt-5.4-mini }
  overrides:
    agents: { default: { model_id: small } }
    tools: { get_weather: { description: The weather of a city } }

Namespaces: ${NAMESPACES.join(', ')}. A folder holds one file for each. \${NAME} is the value of a
variable, and $\${NAME} the text \${NAME}. A secret that is left out stays as the service has it; an entry that brings
one is always written, because a service does not show what it has.

Exit codes: 0 done, 1 problems with the configuration, 2 wrong usage.`;

const documented = (command: Command): Command => addressed(command).addHelpText('after', DOCUMENT);

export const configCommand = new Command('config')
  .description('the configuration of a running service as files')
  .exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : 2));

documented(configCommand.command('export'))
  .description('write down what was configured')
  .addOption(new Option('--dir <folder>', 'one file for each namespace').conflicts('out'))
  .option('--out <file>', 'one file; without --dir and --out, standard output')
  .addOption(
    new Option('--format <format>', 'default: of the ending of --out, or yaml').choices(['yaml', 'json']),
  )
  .option('--references', 'put references to variables where secrets were, instead of leaving them out')
  .action(
    guarded(
      async (options: Connection & { dir?: string; out?: string; format?: Format; references?: true }) => {
        const leftOut: string[] = [];
        const builtin: string[] = [];
        const bundle = await exportBundle(connectService(options), {
          leftOut: options.references ? undefined : (place) => leftOut.push(place),
          builtin: (namespace, count) => builtin.push(`${namespace} ${count}`),
        });
        write(bundle, options);
        if (builtin.length > 0) {
          process.stderr.write(
            `not included, because the service brings them itself (profile, settings file, program): ${builtin.join(', ')}\n`,
          );
        }
        for (const place of leftOut) process.stderr.write(`left out a secret: ${place}\n`);
      },
    ),
  );

const write = (
  bundle: Bundle,
  { dir, out, format }: { dir?: string; out?: string; format?: Format },
): void => {
  const kind = format ?? (extname(out ?? '') === '.json' ? 'json' : 'yaml');
  if (dir !== undefined) {
    mkdirSync(dir, { recursive: true });
    for (const [name, part] of Object.entries(bundle)) {
      writeFileSync(join(dir, `${name}.${kind}`), writeDocument({ [name]: part }, kind));
    }
  } else if (out !== undefined) writeFileSync(out, writeDocument(bundle, kind));
  else process.stdout.write(writeDocument(bundle, kind));
};

documented(configCommand.command('import'))
  .description('bring a service to what files say; only what differs is written')
  .argument('<path>', 'a file, or a folder of files')
  .option('--dry-run', 'say what would be done')
  .option('--prune', 'delete what was configured in the named namespaces and is not in the files')
  .action(
    guarded(async (path: string, options: Connection & { dryRun?: true; prune?: true }) => {
      const service = connectService(options);
      const bundle = readBundle(path, readEnvironment());
      const plan = await planImport(service, bundle, { prune: options.prune === true });
      say(linesOf(plan));
      if (plan.problems.length > 0) throw new ConfigProblems(plan.problems);
      const progress = createProgress();
      const told = (place: string, done: number, steps: number): void =>
        progress.show(`${bar(done, steps)} ${place}`);
      if (!options.dryRun) await applyPlan(service, plan, told).finally(progress.clear);
      say([options.dryRun ? 'nothing was changed' : 'done']);
    }),
  );

documented(configCommand.command('validate'))
  .description('ask a service what is wrong with files; nothing is changed')
  .argument('<path>', 'a file, or a folder of files')
  .action(
    guarded(async (path: string, options: Connection) => {
      const service = connectService(options);
      const plan = await planImport(service, readBundle(path, readEnvironment()), { prune: false });
      if (plan.problems.length > 0) throw new ConfigProblems(plan.problems);
      say([`${plan.entries.length + plan.overrides.length} entries are legal`]);
    }),
  );
