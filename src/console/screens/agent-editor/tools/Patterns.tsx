import { useState } from 'react';
import type { Tool } from '../../../data/resources.ts';
import { Button, IconButton } from '../../../design/Button.tsx';
import { InputField } from '../../../design/Inputs.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from '../AgentEditor.module.css';
import { isToolPattern } from '../problems.ts';
import { matchesOf, type Selection, type Side, withPattern } from './selection.ts';
import texts from './texts.json' with { type: 'json' };

const MOST_SHOWN = 3;
const EXAMPLE = 'get_*';

type PatternsProps = {
  side: Side;
  tools: readonly Tool[];
  servers: readonly string[];
  selection: Selection;
  error: string | undefined;
  onChange: (selection: Selection) => void;
};

const Pattern = ({ pattern, ...props }: PatternsProps & { pattern: string }) => {
  const t = useTexts(texts);
  const { selection, onChange } = props;
  const ids = props.tools.map(({ id }) => id);
  const found = matchesOf(pattern, ids, props.servers);
  const first = found.slice(0, MOST_SHOWN).join(', ');
  return (
    <li className={css.pattern}>
      <code>{pattern}</code>
      <span className="quiet cut grow" title={found.join(', ')}>
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

/** The patterns that allow or exclude tools, including tools that do not exist yet. */
export const Patterns = (props: PatternsProps) => {
  const t = useTexts(texts);
  const { side, selection, onChange } = props;
  const [typed, type] = useState('');
  const [isRefused, refuse] = useState(false);
  const add = (pattern: string): void => {
    const next = withPattern(selection, pattern);
    if (next && !isToolPattern(pattern.trim())) {
      refuse(true);
      return;
    }
    if (next) onChange(next);
    type('');
  };
  return (
    <div data-testid={`tool-selector-${side}`}>
      <Card title={t(`${side}.title`)} note={t(`${side}.note`)}>
        {selection.patterns.length > 0 && (
          <ul>
            {selection.patterns.map((pattern) => (
              <Pattern key={pattern} {...props} pattern={pattern} />
            ))}
          </ul>
        )}
        <div className={css.add}>
          <InputField
            label={t('pattern.new')}
            error={isRefused ? t('pattern.refused') : props.error}
            className="mono"
            placeholder={EXAMPLE}
            spellCheck={false}
            value={typed}
            onChange={(text) => {
              type(text);
              refuse(false);
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              add(typed);
            }}
          />
          <Button onClick={() => add(typed)}>{t('pattern.add')}</Button>
          {!selection.patterns.includes('*') && (
            <Button tone="quiet" onClick={() => add('*')}>
              {t(`${side}.all`)}
            </Button>
          )}
        </div>
      </Card>
    </div>
  );
};
