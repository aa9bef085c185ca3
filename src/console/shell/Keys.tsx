import css from './Shell.module.css';

const MAC = /mac|iphone|ipad/i.test(globalThis.navigator?.userAgent ?? '');

const NAMES: Readonly<Record<string, string>> = { mod: MAC ? '⌘' : 'Ctrl', Enter: '↵', Shift: '⇧' };

/** Decoration, and therefore no text: a shortcut as on the keyboard of this host; `mod` is ⌘ on a Mac and Ctrl elsewhere. */
export const Keys = ({ keys }: { keys: string }) => (
  <span className={css.keys} aria-hidden="true">
    {keys.split(' ').map((key) => (
      <kbd key={key} data-key={NAMES[key] ?? key} />
    ))}
  </span>
);
