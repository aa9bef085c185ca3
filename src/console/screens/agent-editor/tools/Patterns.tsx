import { useState } from 'react';
import { useResource } from '../../../data/queries.ts';
import { idsOf } from '../../../data/records.ts';
import { Button, IconButton } from '../../../design/Button.tsx';
import { InputField } from '../../../design/Inputs.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { type SeenProps, useForm } from '../../../schema-form/context.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { isToolPattern } from '../problems.ts';
import { FIELDS, fieldsOf, matchesOf, type Selection, selectionOf, withPattern } from './selection.ts';
import texts from './texts.json' with { type: 'json' };

const MOST_SHOWN = 3;
const EXAMPLE = 'get_*';

type PatternProps = { pattern: string; found: readonly string[]; onRemove: () => void };

const Pattern = ({ pattern, found, onRemove }: PatternProps) => {
  const t = useTexts(texts);
  const first = found.slice(0, MOST_SHOWN).join(', ');
  return (
    <li className={css.pattern}>
      <code>{pattern}</code>
      <span className="quiet cut grow" title={found.join(', ')}>
        {t('pattern.matches', { count: found.length })}
        {first !== '' && ` · ${first}${found.length > MOST_SHOWN ? '…' : ''}`}
      </span>
      <IconButton small icon="trash" label={t('pattern.remove', { pattern })} onClick={onRemove} />
    </li>
  );
};

/** A widget for the patterns that allow or exclude tools, including tools that do not exist yet. */
export default function Patterns({ path }: SeenProps) {
  const t = useTexts(texts);
  const { form, capabilities } = useAgent();
  const { errors } = useForm();
  const servers = useResource(idsOf('mcp-servers')).data;
  const side = path === FIELDS.allowed.patterns ? 'allowed' : 'excluded';
  const selection = selectionOf(form.draft, side);
  const { patterns } = selection;
  const tools = capabilities.tools.map(({ id }) => id);
  const put = (next: Selection): void => form.set(fieldsOf(side, next));
  const [typed, type] = useState('');
  const [isRefused, refuse] = useState(false);
  const add = (pattern: string): void => {
    const next = withPattern(selection, pattern);
    if (next && !isToolPattern(pattern.trim())) {
      refuse(true);
      return;
    }
    if (next) put(next);
    type('');
  };
  return (
    <div data-testid={`tool-selector-${side}`}>
      <Card title={t(`${side}.title`)} note={t(`${side}.note`)}>
        {patterns.length > 0 && (
          <ul>
            {patterns.map((pattern) => (
              <Pattern
                key={pattern}
                pattern={pattern}
                found={matchesOf(pattern, tools, servers)}
                onRemove={() =>
                  put({ ...selection, patterns: patterns.filter((other) => other !== pattern) })
                }
              />
            ))}
          </ul>
        )}
        <div className={css.add}>
          <InputField
            label={t('pattern.new')}
            error={isRefused ? t('pattern.refused') : (errors.get(path) ?? errors.get(FIELDS[side].names))}
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
          {!patterns.includes('*') && (
            <Button tone="quiet" onClick={() => add('*')}>
              {t(`${side}.all`)}
            </Button>
          )}
        </div>
      </Card>
    </div>
  );
}
