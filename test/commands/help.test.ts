import t from 'tap';
import { doctorCommand } from '../../src/commands/doctor.ts';

t.test('doctor has the settings of a data directory, and no others', async (t) => {
  const flags = doctorCommand.options.map(({ long }) => long);
  t.strictSame(flags, [
    '--settings-file',
    '--storage-dir',
    '--secrets-key',
    '--repair',
    '--backup',
    '--json',
  ]);
});
