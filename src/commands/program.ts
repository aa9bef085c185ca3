import { Command } from 'commander';
import { version } from '../composition/version.ts';
import { Outcome } from '../schema/outcome.ts';
import { SettingsError } from '../settings/index.ts';

/** The command line. A failure that the user can act on is printed as one message, without a stack trace. */
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
  ['copy', async () => (await import('./copy.ts')).copyCommand],
  ['database', async () => (await import('./database.ts')).databaseCommand],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand],
  ['systemd', async () => (await import('./systemd.ts')).systemdCommand],
  ['keys', async () => (await import('./keys.ts')).keysCommand],
  ['users', async () => (await import('./users.ts')).usersCommand],
  ['files', async () => (await import('./files.ts')).filesCommand],
  ['usage', async () => (await import('./usage-report.ts')).usageCommand],
  ['access-log', async () => (await import('./access-log.ts')).accessLogCommand],
  ['config', async () => (await import('./config.ts')).configCommand],
  ['eval', async () => (await import('./eval.ts')).evalCommand],
  ['bench', async () => (await import('./bench.ts')).benchCommand],
  ['docs', async () => (await import('./docs.ts')).docsCommand],
  ['prune', async () => (await import('./prune.ts')).pruneCommand],
]);

export const loadCommands = (): Promise<Command[]> =>
  Promise.all(Array.from(COMMANDS.values(), (load) => load()));

/**
 * Loads the named command only, so that a start of the service parses no code of others. Help and errors need all
 * commands.
 */
const addCommands = async (name: string | undefined): Promise<void> => {
  const named = COMMANDS.get(name ?? '');
  const loaded = named ? [await named()] : await loadCommands();
  // A process may run the program several times.
  for (const command of loaded) {
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
    // A start that failed midway may have left handles open.
    process.exit(1);
  });
