# shellcheck shell=bash
# The parts of deploy/test, in the order in which they run: a line says what belongs to a part.
# What does not exist (yet) is left out. Sourced, never run.
#
#   part | tests | target
#   part | check | command | command with --long (the same if empty)
#   part | long  | command                (with --long only)
#
# shellcheck disable=SC2034 # used by deploy/test
part_lines=(
    "style       | check | swift format lint --strict --recursive Sources Tests Package.swift |"
    "style       | tests | TidyTests"
    "style       | check | deploy/checks/readme |"
    "engine      | tests | ComboCoreTests"
    "engine      | tests | ComboWireTests"
    "engine      | tests | CommandsTests"
    "engine      | check | deploy/checks/command-line |"
    "engine      | check | deploy/checks/demo-terminal |"
    "engine      | check | deploy/fuzz --seconds 10 | deploy/fuzz --seconds 600"
    "worker      | tests | KafkaClientTests"
    "worker      | tests | WorkerRuntimeTests"
    "worker      | check | deploy/checks/evening |"
    "worker      | check | deploy/checks/idle-clock |"
    "worker      | check | deploy/checks/outages |"
    "exactly-once | check | deploy/chaos --minutes 3 | deploy/chaos --minutes 20"
    "exactly-once | check | deploy/checks/identity |"
    "exactly-once | long | deploy/checks/failover"
    "simulator   | tests | SimulatorTests"
    "simulator   | check | deploy/checks/simulator | deploy/checks/simulator --seeds 20000"
    "simulator   | check | deploy/mutations --fit | deploy/mutations"
    "operations  | tests | TelemetryTests"
    "operations  | tests | AdminServerTests"
    "operations  | check | deploy/checks/compose |"
    "operations  | check | deploy/checks/manifests |"
    "operations  | check | deploy/checks/bad-clients |"
    "operations  | check | deploy/checks/security |"
    "operations  | check | deploy/checks/alerting |"
    "overlay     | tests | OverlayGatewayTests"
    "overlay     | check | deploy/checks/overlay-page |"
    "overlay     | check | deploy/checks/overlay |"
    "overlay     | check | deploy/checks/overlay-input |"
    "overlay     | check | deploy/checks/overlay-load |"
    "performance | check | deploy/checks/instructions |"
)
