import { execSync } from 'node:child_process';
import { createRequire } from 'node:module';

/** What npm runs once the packages of a checkout are there: the programs are built, where the bundler is among them. */

const canBuild = () => {
  try {
    return createRequire(import.meta.url).resolve('esbuild') !== '';
  } catch {
    return false;
  }
};

if (canBuild()) execSync('npm run build:js', { stdio: 'inherit' });
else {
  console.log(
    'troupe: nothing is built, since the packages for development are left out; to run the service without them, install what `npm pack` makes',
  );
}
