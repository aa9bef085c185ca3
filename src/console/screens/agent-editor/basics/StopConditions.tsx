import type { JsonObject } from '../../../data/guard.ts';
import { IconButton } from '../../../design/Button.tsx';
import { CountField } from '../../../design/CountField.tsx';
import { controlLook, Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from './Basics.module.css';
import { isNumeric, kindOf, newStop, STOP_KINDS, STOPS, stopsOf } from './stop-conditions.ts';
import { texts } from './texts.ts';

/** When a run ends although its model would go on. */

const Row = (props: {
  stop: JsonObject;
  error: string | undefined;
  onChange: (stop: JsonObject) => void;
  onRemove: () => void;
}) => {
  const t = useTexts(texts);
  const { stop } = props;
  const kind = kindOf(stop);
  const remove = <IconButton small icon="trash" label={t('stop.remove')} onClick={props.onRemove} />;
  if (!kind) {
    return (
      <li>
        <code>{String(stop.type)}</code>
        <code>{JSON.stringify(stop)}</code>
        {remove}
      </li>
    );
  }
  const { field } = STOPS[kind];
  const value = stop[field];
  const set = (next: unknown): void => props.onChange({ ...stop, [field]: next });
  return (
    <li>
      <span className={css.kind}>{t(`stop.${kind}`)}</span>
      {isNumeric(kind) ? (
        <CountField
          label={t(`stop.${kind}.value`)}
          value={value}
          error={props.error}
          onChange={(next) => set(next ?? '')}
        />
      ) : (
        <Field label={t(`stop.${kind}.value`)} error={props.error}>
          {(control) => (
            <input
              {...control}
              type="text"
              className={css.mono}
              value={typeof value === 'string' ? value : ''}
              onChange={(event) => set(event.target.value)}
            />
          )}
        </Field>
      )}
      {remove}
    </li>
  );
};

export const StopConditions = (props: {
  value: unknown;
  errors: ReadonlyMap<string, string>;
  onChange: (value: JsonObject[]) => void;
}) => {
  const t = useTexts(texts);
  const stops = stopsOf(props.value);
  const add = (wanted: string): void => {
    const kind = STOP_KINDS.find((known) => known === wanted);
    if (kind) props.onChange([...stops, newStop(kind)]);
  };
  const error = props.errors.get('stop_conditions');
  let place = 0;
  return (
    <div className={css.group}>
      <div className={css.groupHead}>
        <h3>{t('stops')}</h3>
        <select
          className={controlLook}
          aria-label={t('stop.add')}
          value=""
          onChange={(event) => add(event.target.value)}
        >
          <option value="">{t('stop.add')}</option>
          {STOP_KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {t(`stop.${kind}`)}
            </option>
          ))}
        </select>
      </div>
      {stops.length === 0 && <p className={css.note}>{t('stops.none')}</p>}
      {stops.length > 0 && (
        <ul className={css.rows}>
          {stops.map((stop, index) => {
            place += 1;
            return (
              <Row
                key={place}
                stop={stop}
                error={props.errors.get(`stop_conditions.${index}`)}
                onChange={(next) => props.onChange(stops.with(index, next))}
                onRemove={() => props.onChange(stops.toSpliced(index, 1))}
              />
            );
          })}
        </ul>
      )}
      {error && <p className={css.wrong}>{error}</p>}
    </div>
  );
};
