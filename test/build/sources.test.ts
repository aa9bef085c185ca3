import t from 'tap';
import { modulesOf } from '../../.build/sources.ts';

t.test(
  'finds every module that a program of the build imports, also lazily and through others',
  async (t) => {
    t.strictSame(modulesOf('.build/api.ts').sort(), [
      '.build/api-declarations.ts',
      '.build/api-fields.ts',
      '.build/api-modules.ts',
      '.build/api.ts',
      '.build/declarations.ts',
      '.build/entries.ts',
      '.build/sources.ts',
    ]);
  },
);
