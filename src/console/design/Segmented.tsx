import css from './Segmented.module.css';

/** A switch between a few views of the same content. */
export const Segmented = <Value extends string>(props: {
  label: string;
  /** Also shows the label before the options. */
  isLabelShown?: boolean;
  value: Value;
  options: readonly (readonly [value: Value, text: string])[];
  onChange: (value: Value) => void;
}) => (
  <span className={`small ${css.whole}`}>
    {props.isLabelShown && <span aria-hidden="true">{props.label}</span>}
    <fieldset className={css.switch} aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={props.value === value}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  </span>
);
