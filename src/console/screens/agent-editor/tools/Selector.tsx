import { useMemo, useState } from 'react';
import type { Tool } from '../../../data/resources.ts';
import { Button, IconButton } from '../../../design/Button.tsx';
import { boxLook, controlLook, Field } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { Scroller } from '../../../design/Scroller.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { isToolPattern } from '../problems.ts';
import { groupsOf, matchesOf, type Selection, type Side, type ToolGroup, withPattern } from './selection.ts';
import css from './Tools.module.css';
import { texts } from './texts.ts';

/** One side of the choice of tools: some by name, others by pattern. */

export type SelectorProps = {
  title: string;
  note: string;
  everything: string;
  side: Side;
  tools: readonly Tool[];
  servers: readonly string[];
  selection: Selection;
  error: string | undefined;
  onChange: (selection: Selection) => void;
};

const MOST_SHOWN = 3;
const EXAMPLE = 'get_*';

const Pattern = (props: SelectorProps & { pattern: string }) => {
  const t = useTexts(texts);
  const { pattern, selection, onChange } = props;
  const found = useMemo(
    () =>
      matchesOf(
        pattern,
        props.tools.map(({ id }) => id),
        props.servers,
      ),
    [pattern, props.tools, props.servers],
  );
  const first = found.slice(0, MOST_SHOWN).join(', ');
  return (
    <li className={css.pattern}>
      <code>{pattern}</code>
      <span className={css.matches} title={found.join(', ')}>
        {t('pattern.matches', { count: found.length })}
        {first !== '' && ` · ${first}${found.length > MOST_SHOWN ? '…' : ''}`}
      </span>
      <IconButton
        small
        icon="trash"
        label={t('pattern.remove', { pattern })}
        onClick={() =>
          onChange({ ...selection, patterns: selection.patterns.filter((other) => other !== pattern) })
        }
      />
    </li>
  );
};

const Patterns = (props: SelectorProps) => {
  const t = useTexts(texts);
  const { selection, onChange } = props;
  const [typed, type] = useState('');
  const [isRefused, refuse] = useState(false);
  const add = (pattern: string): void => {
    const next = withPattern(selection, pattern);
    if (next && !isToolPattern(pattern.trim())) refuse(true);
    else {
      if (next) onChange(next);
      type('');
    }
  };
  return (
    <div className={css.patterns}>
      {selection.patterns.length > 0 && (
        <ul>
          {selection.patterns.map((pattern) => (
            <Pattern key={pattern} {...props} pattern={pattern} />
          ))}
        </ul>
      )}
      <div className={css.add}>
        <Field label={t('pattern.new')} error={isRefused ? t('pattern.refused') : props.error}>
          {(control) => (
            <input
              {...control}
              type="text"
              className={css.mono}
              placeholder={EXAMPLE}
              spellCheck={false}
              value={typed}
              onChange={(event) => {
                type(event.target.value);
                refuse(false);
              }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return;
                event.preventDefault();
                add(typed);
              }}
            />
          )}
        </Field>
        <Button onClick={() => add(typed)}>{t('pattern.add')}</Button>
        {!selection.patterns.includes('*') && (
          <Button tone="quiet" onClick={() => add('*')}>
            {props.everything}
          </Button>
        )}
      </div>
    </div>
  );
};

const Group = (props: SelectorProps & { group: ToolGroup; byPattern: ReadonlySet<string> }) => {
  const t = useTexts(texts);
  const { group, selection, onChange } = props;
  const toggle = (id: string, wanted: boolean): void => {
    const others = selection.names.filter((name) => name !== id);
    onChange({ ...selection, names: wanted ? [...others, id] : others });
  };
  const kind = (['builtin', 'plugin', 'mcp'] as const).find((known) => known === group.kind);
  return (
    <>
      <h3 className={css.source}>
        {kind ? t(`source.${kind}`) : t('source.gone')} {group.from}
      </h3>
      {group.tools.map(({ id, description }) => (
        <label key={id} className={css.tool} title={description}>
          <input
            type="checkbox"
            className={boxLook}
            checked={selection.names.includes(id)}
            onChange={(event) => toggle(id, event.target.checked)}
          />
          <span className={css.name}>{id}</span>
          <span className={css.about}>{description}</span>
          {props.byPattern.has(id) && <span className={css.by}>{t('byPattern')}</span>}
        </label>
      ))}
    </>
  );
};

/** Names that no tool has any more come last: they can be taken out, and not be chosen again. */
const withGone = (tools: readonly Tool[], names: readonly string[]): Tool[] => {
  const known = new Set(tools.map(({ id }) => id));
  const gone = names.filter((id) => !known.has(id));
  return [
    ...tools,
    ...gone.map((id) => ({ id, name: id, description: '', source: { kind: 'gone', id: undefined } })),
  ];
};

export const Selector = (props: SelectorProps) => {
  const t = useTexts(texts);
  const { tools, selection, servers } = props;
  const [search, find] = useState('');
  const byPattern = useMemo(() => {
    const ids = tools.map(({ id }) => id);
    return new Set(selection.patterns.flatMap((pattern) => matchesOf(pattern, ids, servers)));
  }, [tools, selection.patterns, servers]);
  const wanted = search.trim().toLowerCase();
  const shown = withGone(tools, selection.names).filter(({ id, description }) =>
    `${id} ${description}`.toLowerCase().includes(wanted),
  );
  return (
    <div data-testid={`tool-selector-${props.side}`}>
      <Card
        title={props.title}
        note={t('chosen', { names: selection.names.length, patterns: selection.patterns.length })}
        flush
        actions={
          <input
            type="search"
            className={`${controlLook} ${css.search}`}
            placeholder={t('search')}
            aria-label={t('search')}
            value={search}
            onChange={(event) => find(event.target.value)}
          />
        }
      >
        <p className={css.note}>{props.note}</p>
        <Scroller label={props.title} className={css.tools}>
          {shown.length === 0 && <p className={css.none}>{t('noMatch')}</p>}
          {groupsOf(shown).map((group) => (
            <Group key={`${group.kind}/${group.from}`} {...props} group={group} byPattern={byPattern} />
          ))}
        </Scroller>
        <Patterns {...props} />
      </Card>
    </div>
  );
};
