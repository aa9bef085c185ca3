import { Dialog, DialogClose } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import { Keys } from './Keys.tsx';
import css from './Shell.module.css';
import type { Screen, ShellText } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };

type Section = {
  title: ShellText;
  /** Addresses of the screens to which the keys belong. */
  at?: RegExp;
  rows: readonly (readonly [keys: string, label: ShellText])[];
};

const SECTIONS: readonly Section[] = [
  {
    title: 'keys.everywhere',
    rows: [
      ['mod K', 'palette.title'],
      ['?', 'keys.help'],
      ['Esc', 'keys.escape'],
    ],
  },
  {
    title: 'keys.lists',
    at: /^\/[a-z0-9-]+$/,
    rows: [
      ['/', 'keys.search'],
      ['n', 'keys.new'],
      ['j k', 'keys.move'],
      ['Enter', 'keys.open'],
      ['x', 'keys.select'],
    ],
  },
  {
    title: 'nav.inbox',
    at: /^\/inbox/,
    rows: [
      ['a', 'keys.approve'],
      ['d', 'keys.deny'],
      ['e', 'keys.edit'],
    ],
  },
  {
    title: 'keys.forms',
    at: /^\/(agents|skills|tools)\/./,
    rows: [
      ['mod S', 'keys.save'],
      ['[ ]', 'keys.tabs'],
      ['mod Enter', 'keys.try'],
    ],
  },
  {
    title: 'nav.playground',
    at: /^\/(playground|assistant|threads\/)/,
    rows: [
      ['Enter', 'keys.send'],
      ['Shift Enter', 'keys.line'],
      ['↑', 'keys.last'],
    ],
  },
  { title: 'keys.runsAndEvents', at: /^\/(runs\/|audit-log)/, rows: [['← →', 'keys.step']] },
];

export const ShortcutHelp = (props: { screens: readonly Screen[]; path: string; onClose: () => void }) => {
  const t = useTexts(shellTexts);
  const isHere = ({ at }: Section): boolean => at?.test(props.path) ?? false;
  const sections = [...SECTIONS.filter(isHere), ...SECTIONS.filter((section) => !isHere(section))];
  const places = props.screens.flatMap(({ nav, label }) =>
    nav?.key ? [[`g ${nav.key}`, t(label)] as const] : [],
  );
  const shown = [
    ...sections.map(({ title, rows }) => ({
      title: t(title),
      rows: rows.map(([keys, label]) => [keys, t(label)] as const),
    })),
    { title: t('keys.goTo'), rows: places },
  ];
  return (
    <Dialog title={t('keys.title')} onClose={props.onClose} size={720}>
      <div className={css.help}>
        {shown.map(({ title, rows }) => (
          <section key={title} aria-label={title}>
            <h3 className="quiet">{title}</h3>
            <dl>
              {rows.map(([keys, text]) => (
                <div key={keys} className="row">
                  <dt>
                    <Keys keys={keys} />
                    <span className="visually-hidden">{keys}</span>
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <DialogClose onClose={props.onClose} />
    </Dialog>
  );
};
