import { Dialog } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Shell.module.css';
import type { Screen, ShellText } from './screen.ts';
import { shellTexts } from './texts.ts';

const KEYS: readonly [keys: string, label: ShellText][] = [
  ['Ctrl/⌘ K', 'keys.palette'],
  ['?', 'keys.help'],
  ['/', 'keys.search'],
  ['n', 'keys.new'],
  ['j k ↑ ↓', 'keys.move'],
  ['Enter e', 'keys.open'],
  ['x', 'keys.select'],
  ['Ctrl/⌘ S', 'keys.save'],
  ['[ ]', 'keys.tabs'],
  ['Esc', 'keys.escape'],
];

export const ShortcutHelp = ({ screens, onClose }: { screens: readonly Screen[]; onClose: () => void }) => {
  const t = useTexts(shellTexts);
  const places = screens.flatMap(({ nav, label }): [string, string][] =>
    nav?.key ? [[`g ${nav.key}`, t('keys.goTo', { screen: t(label) })]] : [],
  );
  const rows = [...KEYS.map(([keys, label]): [string, string] => [keys, t(label)]), ...places];
  return (
    <Dialog title={t('keys.title')} onClose={onClose} size={620}>
      <dl className={css.keys}>
        {rows.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
};
