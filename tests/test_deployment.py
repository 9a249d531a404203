import json
from pathlib import Path
from typing import Any

import pytest

from traceattr.errors import DeploymentError, ModelError
from traceattr.roofline.consistency import check_consistency
from traceattr.roofline.deployment import (
    KEYS,
    Deployment,
    deployment_from_file,
    deployment_from_flags,
    deployment_from_server_args,
    merge,
)
from traceattr.roofline.inputs import Input
from traceattr.roofline.model import load_model
from traceattr.roofline.server_log import deployment_from_server_log

ARGS = (
    "[2026-04-20 12:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3.6-27B', tokenizer_path="
    "'Qwen/Qwen3.6-27B', trust_remote_code=False, dtype='auto', quantization=None,"
    " kv_cache_dtype='fp8_e4m3', mem_fraction_static=0.8, tp_size=2, pp_size=1, dp_size=1,"
    " ep_size=1, enable_dp_attention=False, served_model_name='tp_size=16, it\\'s', api_key=None,"
    " json_model_override_args='{\"tp_size\": 9}', speculative_algorithm='EAGLE',"
    " speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4,"
    " mamba_ssm_dtype='bfloat16', log_level=<Level.INFO: 20>)"
)
DECODE = (
    "[2026-04-20 12:00:00 TP0] Decode batch, #running-req: {requests}, #full token: {tokens},"
    " full token usage: 0.01, mamba num: 2, mamba usage: 0.10, accept len: {accept}, accept rate:"
    " 0.71, cuda graph: True, gen throughput (token/s): 55.12, #queue-req: 0"
)


def values(deployment: Deployment) -> dict[str, Any]:
    """Return what is known, without its sources."""
    pairs = {key: getattr(deployment, key) for key in KEYS}
    return {key: value.value for key, value in pairs.items() if value is not None}


def sources(deployment: Deployment) -> set[str]:
    known = (getattr(deployment, key) for key in KEYS)
    return {value.source for value in known if value is not None}


class TestFlags:
    def test_what_is_not_given_is_unknown(self) -> None:
        assert deployment_from_flags() == Deployment()

    def test_what_is_given_says_so(self) -> None:
        deployment = deployment_from_flags(tp=2, accept_length=3, kv_format="fp8_e4m3")

        assert deployment == Deployment(
            tp=Input(2, "flag"), accept_length=Input(3.0, "flag"), kv_format=Input("fp8", "flag")
        )

    def test_no_context_and_no_draft_are_values(self) -> None:
        assert values(deployment_from_flags(context=0, draft_steps=0)) == {
            "context": 0,
            "draft_steps": 0,
        }

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            ({"tp": 0}, "field 'tp' is 0 (expected an integer of at least 1)"),
            ({"draft_steps": -1}, "field 'draft_steps' is -1 (expected an integer of at least 0)"),
            ({"accept_length": 0.5}, "field 'accept_length' is 0.5 (expected at least 1: a round"),
            ({"kv_format": "int3"}, "field 'kv_format' is 'int3' (expected one of fp32, bf16,"),
            ({"weights": "q4"}, "field 'weights': unknown number format 'q4' (expected one of"),
        ],
    )
    def test_a_value_that_makes_no_sense_is_named(
        self, flags: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(DeploymentError) as caught:
            deployment_from_flags(**flags)

        assert str(caught.value).startswith(f"command line: {message}")


class TestFiles:
    def test_toml_yaml_and_json_say_the_same(self, tmp_path: Path) -> None:
        document = {"model": "Qwen3.6-27B", "tp": 2, "accept_length": 2.95, "weights": "fp8_block"}
        toml, yaml, js = (tmp_path / f"d.{suffix}" for suffix in ("toml", "yaml", "json"))
        lines = [f"{key} = {json.dumps(value)}" for key, value in document.items()]
        toml.write_text("\n".join(lines), encoding="utf-8")
        js.write_text(json.dumps(document), encoding="utf-8")
        pairs = [f"{key}: {value}" for key, value in document.items()]
        yaml.write_text("\n".join(pairs), encoding="utf-8")

        assert deployment_from_file(toml) == deployment_from_file(js) == deployment_from_file(yaml)
        assert values(deployment_from_file(toml)) == document
        assert sources(deployment_from_file(toml)) == {"file"}

    def test_json_may_hold_server_arguments(self, tmp_path: Path) -> None:
        path = tmp_path / "server_args.json"
        arguments = {"model_path": "m", "tp_size": 4, "kv_cache_dtype": "auto", "dp_size": 2}
        path.write_text(json.dumps({"server_args": arguments}), encoding="utf-8")

        deployment = deployment_from_file(path)

        assert values(deployment) == {"model": "m", "tp": 4}
        assert sources(deployment) == {"file"}

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("d.ini", "tp = 2", "unknown kind of file (expected .toml, .yaml, .yml, .json)"),
            ("d.yaml", "tp: [2", "not YAML: expected ',' or ']', but got '<stream end>' in line 1"),
            ("d.yaml", "", "not a table (expected keys with values)"),
            ("d.yml", "2: tp", "not a table (expected keys with values)"),
            ("d.yml", "tp: !!python/name:os.system", "not YAML: could not determine a constructor"),
            ("d.yaml", "accept_length: .inf", "field 'accept_length' is inf (expected a positive"),
            ("d.toml", "tp =", "not TOML: "),
            ("d.json", "{", "not JSON: "),
            ("d.json", "[2]", "not a table (expected keys with values)"),
            ("d.toml", "tps = 2", "unknown field 'tps' (expected one of model, gpu, tp, "),
            ("d.toml", "tp = '2'", "field 'tp' is '2' (expected an integer of at least 1)"),
        ],
    )
    def test_a_mistake_is_named(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")

        with pytest.raises(DeploymentError) as caught:
            deployment_from_file(path)

        assert str(caught.value).startswith(f"{path}: {message}")

    def test_an_absent_file_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "d.toml"

        with pytest.raises(DeploymentError) as caught:
            deployment_from_file(path)

        assert str(caught.value) == f"{path}: No such file or directory (expected a deployment)"


class TestServerArguments:
    def test_a_line_of_the_log_is_read(self) -> None:
        deployment = deployment_from_server_args(ARGS)

        assert values(deployment) == {
            "model": "Qwen/Qwen3.6-27B",
            "tp": 2,
            "ep": 1,
            "dp_attention": 1,
            "draft_steps": 3,
            "draft_tokens": 4,
            "draft_topk": 1,
            "kv_format": "fp8",
            "state_format": "bf16",
        }
        assert sources(deployment) == {"server log"}

    def test_the_last_start_counts(self) -> None:
        text = f"{ARGS}\nrestarted\n{ARGS.replace('tp_size=2', 'tp_size=4')}\nready"

        assert values(deployment_from_server_args(text))["tp"] == 4

    def test_json_says_the_same(self) -> None:
        arguments = {"model_path": "m", "tp_size": 2, "speculative_algorithm": None}

        assert values(deployment_from_server_args(json.dumps(arguments))) == {
            "model": "m",
            "tp": 2,
            "draft_steps": 0,
            "draft_tokens": 1,
            "draft_topk": 1,
        }

    @pytest.mark.parametrize(("enabled", "groups"), [(True, 4), (False, 1)])
    def test_dp_size_counts_groups_of_attention_only_when_enabled(
        self, enabled: bool, groups: int
    ) -> None:
        arguments = {"tp_size": 8, "dp_size": 4, "enable_dp_attention": enabled}

        deployment = deployment_from_server_args(json.dumps(arguments))

        assert values(deployment)["dp_attention"] == groups

    @pytest.mark.parametrize(
        ("quantization", "weights"), [("fp8", "fp8"), ("modelopt_fp4", None), (None, None)]
    )
    def test_only_formats_made_while_loading_replace_those_of_the_checkpoint(
        self, quantization: str | None, weights: str | None
    ) -> None:
        arguments = {"tp_size": 1, "quantization": quantization}

        deployment = deployment_from_server_args(json.dumps(arguments))

        assert values(deployment).get("weights") == weights

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a log", "no server arguments (expected a line with ServerArgs(...) or JSON)"),
            ("ServerArgs(x=1)", "no tp_size (expected the server arguments of SGLang)"),
            ("{", "not JSON: "),
            ('{"tp_size": 2, "pp_size": 2}', "pp_size is 2: pipeline parallelism has no roofline"),
            ('{"tp_size": 2, "kv_cache_dtype": "fp4"}', "field 'kv_format' is 'fp4' (expected"),
        ],
    )
    def test_what_cannot_be_modelled_is_named(self, text: str, message: str) -> None:
        with pytest.raises(DeploymentError) as caught:
            deployment_from_server_args(text, "server.log")

        assert str(caught.value).startswith(f"server.log: {message}")


class TestServerLog:
    def test_decode_lines_tell_load_and_accept_length(self) -> None:
        loads = [(1, 500, 3.0), (2, 1200, 2.5), (2, 1300, 3.5), (0, 0, 1.0)]
        lines = [DECODE.format(requests=r, tokens=t, accept=a) for r, t, a in loads]

        deployment = deployment_from_server_log("\n".join([ARGS, *lines]))

        assert values(deployment) == {
            **values(deployment_from_server_args(ARGS)),
            "batch": 2,
            "context": 600,
            "accept_length": 3.0,
        }
        assert sources(deployment) == {"server log"}

    def test_a_model_without_gdn_counts_its_tokens_plainly(self) -> None:
        line = "Decode batch, #running-req: 4, #token: 4096, token usage: 0.20, cuda graph: True,"

        assert values(deployment_from_server_log(line)) == {"batch": 4, "context": 1024}

    def test_a_log_without_either_says_nothing(self) -> None:
        assert deployment_from_server_log("") == Deployment()


def test_the_first_that_knows_a_value_wins() -> None:
    flags = deployment_from_flags(tp=4)
    server = deployment_from_server_args(ARGS)

    merged = merge(flags, Deployment(batch=Input(2, "trace")), server)

    assert merged.tp == Input(4, "flag")
    assert merged.batch == Input(2, "trace")
    assert merged.draft_steps == Input(3, "server log")
    assert merged.context is None


class TestConsistency:
    def check(self, **flags: Any) -> None:
        check_consistency(load_model("Qwen3-30B-A3B"), deployment_from_flags(**flags))

    def test_what_fits_is_accepted(self) -> None:
        self.check()
        self.check(tp=8, ep=4, dp_attention=2, draft_steps=3, accept_length=4)
        self.check(accept_length=9)

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            ({"tp": 4, "ep": 3}, "ep 3 (flag) does not divide tp 4 (flag) (expected a divisor)"),
            ({"tp": 4, "dp_attention": 8}, "dp_attention 8 (flag) does not divide tp 4 (flag)"),
            ({"accept_length": 5, "draft_steps": 3}, "accept_length 5 (flag) is above the 4 token"),
            ({"accept_length": 3, "draft_tokens": 2}, "accept_length 3 (flag) is above the 2 tok"),
        ],
    )
    def test_a_contradiction_names_both_numbers(self, flags: dict[str, Any], message: str) -> None:
        with pytest.raises(DeploymentError) as caught:
            self.check(**flags)

        assert str(caught.value).startswith(message)

    def test_a_model_that_does_not_split_is_told(self) -> None:
        with pytest.raises(ModelError, match="32 query heads do not split over 3 GPUs"):
            self.check(tp=3)

    def test_attention_is_split_within_its_group_only(self) -> None:
        with pytest.raises(ModelError, match="32 query heads do not split over 64 GPUs"):
            self.check(tp=64)
        self.check(tp=64, dp_attention=4, ep=64)
