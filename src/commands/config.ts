import { mkdirSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Command, type CommanderError, Option } from 'commander';
import { bar, createProgress } from '../terminal/progress.ts';
import { addressed, type Connection } from './admin-client.ts';
import { applyPlan } from './config/apply.ts';
import { type Bundle, type Format, NAMESPACES, readBundle, writeDocument } from './config/bundle.ts';
import { droppedBy } from './config/dropped.ts';
import { exportBundle } from './config/export.ts';
import { planImport, renderPlan } from './config/plan.ts';
import { ConfigProblems } from './config/problems.ts';
import { connectService } from './config/service.ts';
import { readEnvironment } from './environment.ts';
import { guarded } from './usage.ts';

/**
 * `troupe config`: the configuration of a running service as files, over its public routes. Exit codes: 0; 1 if the
 * configuration has problems or the service rejects it; 2 if the command cannot start.
 */

const printLines = (lines: readonly string[]): void => {
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
variable, and $\${NAME} the text \${NAME}. A secret that is left out stays as the service has it, and is dropped if the
entry moves to another address, adapter or program; an entry that brings one is always written, because a service does
not show what it has.

Exit codes: 0 done, 1 problems with the configuration, 2 wrong usage.`;

const documented = (command: Command): Command => addressed(command).addHelpText('after', DOCUMENT);

export const configCommand = new Command('config')
  .description('export, apply and validate the configuration of a running service')
  .exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : 2));

documented(configCommand.command('export'))
  .description('export the configuration')
  .addOption(new Option('--dir <folder>', 'write one file per namespace').conflicts('out'))
  .option('--out <file>', 'write one file; without --dir and --out, write to standard output')
  .addOption(
    new Option('--format <format>', 'default: the extension of --out, or yaml').choices(['yaml', 'json']),
  )
  .option('--references', 'replace secrets with references to variables instead of omitting them')
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
  .description('apply files to a running service; unchanged entries are skipped')
  .argument('<path>', 'a file or a directory of files')
  .option('--dry-run', 'print the changes without applying them')
  .option('--prune', 'delete entries of the listed namespaces that the files do not contain')
  .action(
    guarded(async (path: string, options: Connection & { dryRun?: true; prune?: true }) => {
      const service = connectService(options);
      const bundle = await readBundle(path, readEnvironment());
      const plan = await planImport(service, bundle, { prune: options.prune === true });
      printLines(renderPlan(plan));
      if (plan.problems.length > 0) throw new ConfigProblems(plan.problems);
      const progress = createProgress();
      const onStep = (place: string, done: number, steps: number): void =>
        progress.show(`${bar(done, steps)} ${place}`);
      if (!options.dryRun) {
        await applyPlan(service, plan, onStep).finally(progress.clear);
        for (const place of await droppedBy(service, plan)) {
          process.stderr.write(`dropped a secret, give it again: ${place}\n`);
        }
      }
      printLines([options.dryRun ? 'dry run: no changes were made' : 'done']);
    }),
  );

documented(configCommand.command('validate'))
  .description('validate files against a running service (dry run)')
  .argument('<path>', 'a file or a directory of files')
  .action(
    guarded(async (path: string, options: Connection) => {
      const service = connectService(options);
      const plan = await planImport(service, await readBundle(path, readEnvironment()), { prune: false });
      if (plan.problems.length > 0) throw new ConfigProblems(plan.problems);
      printLines([`${plan.entries.length + plan.overrides.length} entries are legal`]);
    }),
  );
