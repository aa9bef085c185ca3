import { Command } from 'commander';
import { Outcome } from '../schema/outcome.ts';
import { SettingsError } from '../settings.ts';
import { version } from '../version.ts';

/** The command line. A failure that its user can act on is one message, not a stack trace. */
const program = new Command('troupe')
  .description(
    'An agent runtime service: durable threads and runs, streamed over SSE, drawn as live statecharts.',
  )
  .version(version)
  .showHelpAfterError('`troupe --help` lists the commands');

/** In the order of the help. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./serve.ts')).serveCommand],
  ['dev', async () => (await import('./dev.ts')).devCommand],
  ['machines', async () => (await import('./machines.ts')).machinesCommand],
  ['backup', async () => (await import('./backup.ts')).backupCommand],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand],
  ['systemd', async () => (await import('./systemd.ts')).systemdCommand],
  ['config', async () => (await import('./config.ts')).configCommand],
  ['eval', async () => (await import('./eval.ts')).evalCommand],
  ['bench', async () => (await import('./bench.ts')).benchCommand],
  ['prune', async () => (await import('./prune.ts')).pruneCommand],
]);

/** Loads the named command only: a start of the service parses no code of the others. Help and errors need all. */
const addCommands = async (name: string | undefined): Promise<void> => {
  const named = COMMANDS.get(name ?? '');
  const loading = named ? [named()] : [...COMMANDS.values()].map((load) => load());
  // A process may run the program several times.
  for (const command of await Promise.all(loading)) {
    if (!program.commands.includes(command)) program.addCommand(command);
  }
};

const run = async (): Promise<void> => {
  await addCommands(process.argv[2]);
  await program.parseAsync();
};

export const runProgram = (): Promise<void> =>
  run().catch((error: unknown) => {
    const expected = error instanceof SettingsError || error instanceof Outcome;
    process.stderr.write(
      `troupe: ${expected ? error.message : error instanceof Error ? error.stack : error}\n`,
    );
    // A start that failed half-way may have left handles open.
    process.exit(1);
  });
